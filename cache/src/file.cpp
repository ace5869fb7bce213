#include "file.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace jitbag::cache {
namespace {

/// Calls again what a signal interrupted.
template <class Call>
auto uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

std::string system_reason() {
  return std::generic_category().message(errno);
}

void fail(const std::filesystem::path& path, const char* what) {
  const std::string reason = system_reason();
  throw Trouble(fmt::format("{} {} ({})", path.string(), what, reason));
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor open_at(int folder, const std::filesystem::path& path, int flags, mode_t mode) {
  return Descriptor(uninterrupted(
      [&] { return ::openat(folder, path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode); }));
}

std::optional<std::vector<std::byte>> read_file(const Descriptor& file, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count =
        uninterrupted([&] { return ::read(file.get(), bytes.data() + done, size - done); });
    if (count < 0) return {};
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

bool write_file(const Descriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return ::write(file.get(), bytes.data(), bytes.size()); });
    if (count < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool sync_file(const Descriptor& file) {
  return uninterrupted([&] { return ::fsync(file.get()); }) == 0 || errno == EINVAL;
}

std::optional<std::string> privacy_problem(const struct stat& info) {
  const uid_t user = ::geteuid();
  if (info.st_uid != user)
    return fmt::format("belongs to user {}, not to user {}", info.st_uid, user);
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("can be written by other users (mode {:04o})", info.st_mode & 07777u);
  return {};
}

}  // namespace jitbag::cache
