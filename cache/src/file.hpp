#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace jitbag::cache {

/// Why a folder cannot be used, as a clause that names the path. Never leaves this library.
class Trouble : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What errno says now, in words.
[[nodiscard]] std::string system_reason();

/// Throws "<path> <what> (<reason of errno>)".
[[noreturn]] void fail(const std::filesystem::path& path, const char* what);

/// An open file, closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  explicit operator bool() const { return number_ >= 0; }
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// Calls again what a signal interrupted.
template <class Call>
auto uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// openat with O_CLOEXEC, O_NONBLOCK (so that a fifo cannot hang us) and, when it was interrupted,
/// again. Not open: see errno.
[[nodiscard]] Descriptor open_at(int folder, const char* path, int flags, mode_t mode = 0);

/// Up to `size` bytes from that place; fewer where the file ends. Nothing: see errno.
[[nodiscard]] std::optional<std::vector<std::byte>> read_file(const Descriptor& file,
                                                              std::size_t size,
                                                              std::uint64_t offset = 0);

/// Writes at that place. False: see errno.
[[nodiscard]] bool write_file(const Descriptor& file, std::span<const std::byte> bytes,
                              std::uint64_t offset = 0);

/// Has the kernel write the file out. True also where the file system does not know how.
[[nodiscard]] bool sync_file(const Descriptor& file);

/// Whose files are believed.
enum class Trust {
  own,            ///< this user's
  own_and_roots,  ///< and root's: for what is only read
};

[[nodiscard]] bool is_trusted(uid_t owner, Trust trust);

/// Why someone who is not trusted could have written this, as a clause: "belongs to user 7, not to
/// user 0".
[[nodiscard]] std::optional<std::string> privacy_problem(const struct stat& info, Trust trust);

}  // namespace jitbag::cache
