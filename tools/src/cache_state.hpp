#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/cache/cache.hpp"
#include "output.hpp"

/// How it stands with the cache: what the environment asks for, and whether it works.
namespace jitbag::tools {

struct FolderState {
  std::filesystem::path directory;
  bool exists = false;
  std::string owner = {};
  std::string mode = {};         ///< "0700"
  std::string file_system = {};  ///< "ext4"; of the parent for a folder that is not there yet
  std::optional<std::uint64_t> free_bytes = {};
  std::uint64_t max_bytes = 0;
  std::string problem = {};  ///< why records cannot be kept in it
  std::string advice = {};   ///< what works, and could be better
};

struct LayerState {
  std::string where;
  std::string kind;  ///< "folder", "bundle"; empty for neither
  std::size_t records = 0;
  std::string problem = {};  ///< why it is not used
};

struct RemoteState {
  std::string where;  ///< without user and password
  bool writes = false;
  std::string problem = {};
};

struct CacheState {
  std::optional<FolderState> folder = {};
  std::vector<LayerState> layers = {};
  std::optional<RemoteState> remote = {};
};

/// What to do about a cache folder that is not there.
enum class MissingFolder { leave, make };

/// Asks no server.
[[nodiscard]] CacheState look_at_cache(const cache::CacheOptions& options, MissingFolder missing);

/// One layer: lists its records.
[[nodiscard]] LayerState look_at_layer(const std::filesystem::path& path,
                                       const cache::CacheOptions& options);

[[nodiscard]] Json to_json(const FolderState& folder);
[[nodiscard]] Json to_json(const std::vector<LayerState>& layers);
[[nodiscard]] Json to_json(const std::optional<RemoteState>& remote);

/// Names and values for a person.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> lines(const CacheState& state);

}  // namespace jitbag::tools
