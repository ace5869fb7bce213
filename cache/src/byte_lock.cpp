#include "byte_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace jitbag::cache {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_pause{1};
constexpr milliseconds longest_pause{20};

LockOutcome try_lock(int file, std::uint64_t byte) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(byte);
  range.l_len = 1;
  if (uninterrupted([&] { return ::fcntl(file, F_OFD_SETLK, &range); }) == 0)
    return LockOutcome::taken;
  return errno == EAGAIN || errno == EACCES ? LockOutcome::in_vain : LockOutcome::unsupported;
}

LockOutcome wait_for(int file, std::uint64_t byte, milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (milliseconds pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
    const LockOutcome outcome = try_lock(file, byte);
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    if (outcome != LockOutcome::in_vain || waited >= patience) return outcome;
    std::this_thread::sleep_for(std::min(pause, patience - waited));
  }
}

}  // namespace

std::uint64_t claim_byte(const Digest& key) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(key.bytes[i]);
  return number >> 2;
}

ByteLock::ByteLock(const Folder& root, std::uint64_t byte, milliseconds patience) {
  Descriptor file =
      open_at(root.descriptor(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file) outcome_ = wait_for(file.get(), byte, patience);
  reason_ = system_reason();
  if (outcome_ == LockOutcome::taken) descriptor_ = file.release();
}

void ByteLock::close(int descriptor) {
  if (descriptor < 0) return;
  // A child that was forked meanwhile has the file open too, and would keep the lock after a close.
  struct flock whole_file {};
  whole_file.l_type = F_UNLCK;
  whole_file.l_whence = SEEK_SET;
  uninterrupted([&] { return ::fcntl(descriptor, F_OFD_SETLK, &whole_file); });
  ::close(descriptor);
}

}  // namespace jitbag::cache
