#include "cache_state.hpp"

#include <linux/magic.h>
#include <pwd.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace jitbag::tools {
namespace {

namespace fs = std::filesystem;

struct FileSystem {
  std::uint32_t number;
  const char* name;
  bool is_shared;  ///< between machines
};

// Numbers that linux/magic.h does not name are those of `man 2 statfs`.
constexpr std::array file_systems = {FileSystem{EXT4_SUPER_MAGIC, "ext4", false},
                                     FileSystem{TMPFS_MAGIC, "tmpfs", false},
                                     FileSystem{OVERLAYFS_SUPER_MAGIC, "overlayfs", false},
                                     FileSystem{BTRFS_SUPER_MAGIC, "btrfs", false},
                                     FileSystem{XFS_SUPER_MAGIC, "xfs", false},
                                     FileSystem{0x2fc12fc1, "zfs", false},
                                     FileSystem{NFS_SUPER_MAGIC, "NFS", true},
                                     FileSystem{SMB_SUPER_MAGIC, "SMB", true},
                                     FileSystem{0xff534d42, "CIFS", true},
                                     FileSystem{0xfe534d42, "SMB2", true},
                                     FileSystem{0x0bd00bd0, "Lustre", true},
                                     FileSystem{0x00c36400, "Ceph", true},
                                     FileSystem{0x47504653, "GPFS", true},
                                     FileSystem{0x65735546, "FUSE", true}};

std::string user_name(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

fs::path existing_parent(fs::path path) {
  std::error_code ignored;
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

void look_at_file_system(FolderState& state) {
  struct statfs info {};
  if (::statfs(existing_parent(state.directory).c_str(), &info) != 0) return;
  state.free_bytes =
      static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  const auto number = static_cast<std::uint32_t>(info.f_type);
  const auto known = std::ranges::find(file_systems, number, &FileSystem::number);
  if (known == file_systems.end()) {
    state.file_system = fmt::format("0x{:x}", number);
    return;
  }
  state.file_system = known->name;
  if (known->is_shared)
    state.advice = fmt::format(
        "{} is on {}, where locks may not work: two processes may compile the same kernel. Set "
        "JITBAG_CACHE_DIR to a local folder, and name this one in JITBAG_CACHE_PATH.",
        state.directory.string(), known->name);
}

FolderState look_at_folder(const fs::path& directory, std::uint64_t max_bytes,
                           MissingFolder missing) {
  FolderState state{.directory = directory, .max_bytes = max_bytes};
  std::error_code ignored;
  if (missing == MissingFolder::make || fs::exists(directory / "records", ignored)) {
    const cache::DiskCache cache(
        directory, [](std::string_view) {}, max_bytes);
    const auto health = cache.health();
    if (!health.usable) state.problem = health.sentence;
  }
  look_at_file_system(state);
  struct stat info {};
  state.exists = ::stat(directory.c_str(), &info) == 0;
  if (!state.exists) return state;
  state.owner = user_name(info.st_uid);
  state.mode = fmt::format("{:04o}", info.st_mode & 07777u);
  return state;
}

std::string_view kind_of(cache::Place place) {
  switch (place) {
    case cache::Place::folder:
      return "folder";
    case cache::Place::bundle:
      return "bundle";
    case cache::Place::remote:
      break;
  }
  return "remote";
}

RemoteState look_at_remote(const cache::CacheOptions& options) {
  RemoteState state;
  cache::CacheOptions only = options;
  only.directory.reset();
  only.layers.clear();
  const cache::Cache cache(only, [&](std::string_view sentence) { state.problem = sentence; });
  if (const cache::Remote* remote = cache.remote()) {
    state.where = remote->where();
    state.writes = remote->writes();
  }
  return state;
}

Json problem_json(const std::string& problem) {
  return problem.empty() ? Json(nullptr) : Json(problem);
}

std::string limit_text(std::uint64_t max_bytes) {
  return max_bytes == 0 ? "no limit" : human_bytes(static_cast<double>(max_bytes)) + " at most";
}

std::string folder_text(const FolderState& folder) {
  if (!folder.problem.empty()) return folder.problem;
  std::string text = folder.directory.string();
  text += folder.exists ? fmt::format(" (of {}, mode {})", folder.owner, folder.mode)
                        : " (not there yet)";
  text += ", " + limit_text(folder.max_bytes);
  if (folder.free_bytes)
    text += fmt::format(", {} free on {}", human_bytes(static_cast<double>(*folder.free_bytes)),
                        folder.file_system);
  return text;
}

}  // namespace

LayerState look_at_layer(const fs::path& path, const cache::CacheOptions& options) {
  LayerState state{.where = path.string(), .kind = {}};
  const cache::CacheOptions only{.layers = {path}, .trusted_key = options.trusted_key};
  const cache::Cache cache(only, [&](std::string_view sentence) { state.problem = sentence; });
  for (const auto& layer : cache.layers()) {
    state.kind = kind_of(layer->place());
    state.records = layer->keys().size();
  }
  return state;
}

CacheState look_at_cache(const cache::CacheOptions& options, MissingFolder missing) {
  CacheState state;
  if (options.directory)
    state.folder = look_at_folder(*options.directory, options.max_bytes, missing);
  for (const fs::path& path : options.layers) state.layers.push_back(look_at_layer(path, options));
  if (options.remote) state.remote = look_at_remote(options);
  return state;
}

Json to_json(const FolderState& folder) {
  return {{"directory", folder.directory.string()},
          {"exists", folder.exists},
          {"owner", problem_json(folder.owner)},
          {"mode", problem_json(folder.mode)},
          {"file_system", problem_json(folder.file_system)},
          {"free_bytes", maybe(folder.free_bytes)},
          {"max_bytes", folder.max_bytes},
          {"problem", problem_json(folder.problem)},
          {"advice", problem_json(folder.advice)}};
}

Json to_json(const std::vector<LayerState>& layers) {
  Json json = Json::array();
  for (const LayerState& layer : layers)
    json.push_back({{"where", layer.where},
                    {"kind", problem_json(layer.kind)},
                    {"records", layer.records},
                    {"problem", problem_json(layer.problem)}});
  return json;
}

Json to_json(const std::optional<RemoteState>& remote) {
  if (!remote) return nullptr;
  return {{"where", problem_json(remote->where)},
          {"writes", remote->writes},
          {"problem", problem_json(remote->problem)}};
}

std::vector<std::pair<std::string, std::string>> lines(const CacheState& state) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (state.folder) {
    lines.emplace_back("cache folder", folder_text(*state.folder));
    if (!state.folder->advice.empty()) lines.emplace_back("  advice", state.folder->advice);
  } else {
    lines.emplace_back("cache folder", "none: set JITBAG_CACHE_DIR or HOME to an absolute path");
  }
  for (const LayerState& layer : state.layers)
    lines.emplace_back(
        "layer", layer.problem.empty()
                     ? fmt::format("{} ({}, {} records)", layer.where, layer.kind, layer.records)
                     : layer.problem);
  if (state.remote) {
    const RemoteState& remote = *state.remote;
    lines.emplace_back("remote",
                       remote.where + (remote.writes ? " (read and written)" : " (read)"));
    if (!remote.problem.empty()) lines.emplace_back("  remote", remote.problem);
  }
  return lines;
}

}  // namespace jitbag::tools
