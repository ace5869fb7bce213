#include "file.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace jitbag::cache {

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

Descriptor open_at(int folder, const char* path, int flags, mode_t mode) {
  return Descriptor(
      uninterrupted([&] { return ::openat(folder, path, flags | O_CLOEXEC | O_NONBLOCK, mode); }));
}

std::optional<std::vector<std::byte>> read_file(const Descriptor& file, std::size_t size,
                                                std::uint64_t offset) {
  std::vector<std::byte> bytes(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = uninterrupted([&] {
      return ::pread(file.get(), bytes.data() + done, size - done,
                     static_cast<off_t>(offset + done));
    });
    if (count < 0) return {};
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

bool write_file(const Descriptor& file, std::span<const std::byte> bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto rest = bytes.subspan(done);
    const ssize_t count = uninterrupted([&] {
      return ::pwrite(file.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
    });
    if (count < 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

bool sync_file(const Descriptor& file) {
  return uninterrupted([&] { return ::fsync(file.get()); }) == 0 || errno == EINVAL;
}

bool is_trusted(uid_t owner, Trust trust) {
  return owner == ::geteuid() || (trust == Trust::own_and_roots && owner == 0);
}

std::optional<std::string> privacy_problem(const struct stat& info, Trust trust) {
  if (!is_trusted(info.st_uid, trust))
    return fmt::format("belongs to user {}, not to user {}{}", info.st_uid, ::geteuid(),
                       trust == Trust::own_and_roots ? " or root" : "");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("can be written by other users (mode {:04o})", info.st_mode & 07777u);
  return {};
}

}  // namespace jitbag::cache
