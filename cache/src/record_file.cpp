#include "record_file.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "limits.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t use_resolution_s = 60;

std::string kind_of(const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return "is a folder";
  if (S_ISFIFO(info.st_mode)) return "is a fifo";
  return "is not a plain file";
}

/// Where this fails, the file only seems to be older than it is.
void note_use(const Descriptor& file, const struct stat& info) {
  const std::time_t now = std::time(nullptr);
  if (info.st_mtime <= now && now - info.st_mtime <= use_resolution_s) return;
  const struct timespec access_kept_change_now[] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  static_cast<void>(::futimens(file.get(), access_kept_change_now));
}

}  // namespace

std::string shard_name(const Digest& key) {
  return key.hex().substr(0, 2);
}

std::string record_name(const Digest& key) {
  return key.hex() + ".record";
}

fs::path record_path(const fs::path& root, const Digest& key) {
  return root / records_name / shard_name(key) / record_name(key);
}

FileLook look_at(const Folder& folder, const std::string& name, std::size_t limit, Use use) {
  const Descriptor file = open_at(folder.descriptor(), name.c_str(), O_RDONLY | O_NOFOLLOW);
  if (!file) {
    if (errno == ENOENT) return {};
    if (errno == ELOOP) return {{}, "is a symbolic link"};
    return {{}, fmt::format("cannot be opened ({})", system_reason())};
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0)
    return {{}, fmt::format("cannot be looked at ({})", system_reason())};
  if (!S_ISREG(info.st_mode)) return {{}, kind_of(info)};
  if (const auto problem = privacy_problem(info, folder.trust())) return {{}, *problem, true};
  if (std::cmp_greater(info.st_size, limit))
    return {{}, fmt::format("has {} bytes, more than the {} allowed", info.st_size, limit)};
  auto bytes = read_file(file, static_cast<std::size_t>(info.st_size));
  if (!bytes) return {{}, fmt::format("cannot be read ({})", system_reason())};
  if (use == Use::noted) note_use(file, info);
  return {std::move(bytes), {}};
}

RecordLook look_at_record(const Folder& shard, const Digest& key, Use use) {
  const FileLook look = look_at(shard, record_name(key), largest_record, use);
  if (!look.problem.empty()) return {{}, 0, fmt::format("It {}.", look.problem), look.foreign};
  if (!look.bytes) return {};
  Decoded decoded = decode(*look.bytes);
  if (!decoded.record) return {{}, 0, std::move(decoded.problem)};
  if (decoded.record->key() != key) return {{}, 0, "It holds the record of another key."};
  return {std::move(decoded.record), look.bytes->size(), {}};
}

std::optional<Folder> open_shard(const Folder& root, const Digest& key) {
  const auto records = root.open_inside(records_name);
  return records ? records->open_inside(shard_name(key)) : std::nullopt;
}

}  // namespace jitbag::cache
