#include "byte_lock.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace jitbag::cache {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_pause{1};
constexpr milliseconds longest_pause{20};

struct flock one_byte(std::uint64_t number) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(number >> 2);  // 62 bits: any file system has that offset
  range.l_len = 1;
  return range;
}

LockOutcome try_lock(const Descriptor& file, std::uint64_t number) {
  struct flock range = one_byte(number);
  while (::fcntl(file.get(), F_OFD_SETLK, &range) != 0) {
    if (errno == EAGAIN || errno == EACCES) return LockOutcome::in_vain;
    if (errno != EINTR) return LockOutcome::unsupported;
  }
  return LockOutcome::taken;
}

}  // namespace

LockOutcome lock_byte(const Descriptor& file, std::uint64_t number, milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (milliseconds pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
    const LockOutcome outcome = try_lock(file, number);
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    if (outcome != LockOutcome::in_vain || waited >= patience) return outcome;
    std::this_thread::sleep_for(std::min(pause, patience - waited));
  }
}

}  // namespace jitbag::cache
