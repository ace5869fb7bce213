#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "jitbag/cache/disk_cache.hpp"
#include "support/temporary_folder.hpp"

namespace jitbag::test {

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A record whose key and payload follow from a name.
inline cache::Record sample(const std::string& name) {
  return {{{"target", "sm_90"}, {"source", "text of " + name}}, bytes_of("payload of " + name)};
}

/// A cache in a folder of its own, with what it warned of.
class CacheFolder {
 public:
  CacheFolder() : cache_(path(), listener()) {}

  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "cache"; }
  [[nodiscard]] const std::filesystem::path& parent() const { return folder_.path(); }
  [[nodiscard]] const cache::DiskCache& cache() const { return cache_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] cache::Warn listener() {
    return [this](std::string_view sentence) { warnings_.emplace_back(sentence); };
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> warnings_;
  cache::DiskCache cache_;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_content(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
  std::filesystem::permissions(path, std::filesystem::perms(0600));
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Sets a time of change back.
inline void set_age(const std::filesystem::path& path, std::time_t seconds) {
  const timespec time{std::time(nullptr) - seconds, 0};
  const timespec times[] = {{0, UTIME_OMIT}, time};
  if (::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
    throw std::runtime_error("the time of " + path.string() + " cannot be set");
}

inline std::time_t age_of(const std::filesystem::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? std::time(nullptr) - info.st_mtime : -1;
}

inline unsigned mode_of(const std::filesystem::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777u : 0;
}

/// Everything about a folder but the times of reading.
using Snapshot =
    std::map<std::string,
             std::tuple<unsigned, std::uint64_t, std::int64_t, std::int64_t, std::string>>;

inline Snapshot snapshot(const std::filesystem::path& folder) {
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  Snapshot result;
  const auto add = [&](const std::filesystem::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return;
    result[path.string()] = {info.st_mode, info.st_ino, nanoseconds(info.st_mtim),
                             nanoseconds(info.st_ctim),
                             S_ISREG(info.st_mode) ? content_of(path) : ""};
  };
  add(folder);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) add(entry.path());
  return result;
}

/// The names of all that is in a folder and below it.
inline std::vector<std::string> names_below(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& [path, ignored] : snapshot(folder))
    names.push_back(std::filesystem::path(path).lexically_relative(folder).string());
  return names;
}

}  // namespace jitbag::test
