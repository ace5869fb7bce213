#include "cache/record_place.hpp"

#include <spdlog/fmt/fmt.h>

#include "cache_here.hpp"
#include "cache_state.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/error.hpp"
#include "jitbag/cache/folder_layer.hpp"

namespace jitbag::tools {
namespace {

namespace fs = std::filesystem;

/// The layers of a cache, which live as long as one of them is used.
std::vector<RecordPlace> layer_places(const std::shared_ptr<const cache::Cache>& cache) {
  std::vector<RecordPlace> places;
  for (const auto& layer : cache->layers())
    places.emplace_back(std::shared_ptr<const cache::Layer>(cache, layer.get()));
  return places;
}

}  // namespace

RecordPlace::RecordPlace(std::shared_ptr<const cache::Layer> layer)
    : layer_(std::move(layer)), keys_(layer_->keys()) {}

RecordPlace::RecordPlace(std::shared_ptr<const cache::Layer> layer,
                         const std::vector<cache::Entry>& entries)
    : layer_(std::move(layer)) {
  for (const cache::Entry& entry : entries) {
    keys_.push_back(entry.key);
    used_.emplace(entry.key.hex(), entry.last_used);
  }
}

std::optional<RecordPlace::Time> RecordPlace::last_used(const cache::Digest& key) const {
  const auto used = used_.find(key.hex());
  return used == used_.end() ? std::nullopt : std::optional(used->second);
}

std::optional<cache::TrustedKey> trusted_key(const cache::CacheOptions& options) {
  if (!options.trusted_key) return std::nullopt;
  return cache::TrustedKey::read(*options.trusted_key);
}

cache::DiskCache folder_of(const cache::CacheOptions& options) {
  if (!options.directory)
    throw cache::Error(
        "There is no cache folder: set JITBAG_CACHE_DIR or HOME to an absolute path.");
  return {*options.directory, warn, options.max_bytes};
}

RecordPlace folder_place(const cache::CacheOptions& options) {
  const cache::DiskCache folder = folder_of(options);
  return {std::make_shared<cache::FolderLayer>(folder.directory(), warn), folder.entries()};
}

std::vector<RecordPlace> all_places(const cache::CacheOptions& options) {
  std::vector<RecordPlace> places;
  std::error_code ignored;
  if (options.directory && fs::exists(*options.directory, ignored))
    places.push_back(folder_place(options));
  for (RecordPlace& place : layer_places(std::make_shared<cache::Cache>(options, warn)))
    places.push_back(std::move(place));
  return places;
}

std::vector<UnusableLayer> unusable_layers(const cache::CacheOptions& options) {
  std::vector<UnusableLayer> unusable;
  for (const fs::path& path : options.layers) {
    LayerState state = look_at_layer(path, options);
    if (!state.problem.empty()) unusable.push_back({path, std::move(state.problem)});
  }
  return unusable;
}

RecordPlace named_place(const fs::path& path, const cache::CacheOptions& options) {
  if (!fs::is_directory(path)) {
    static_cast<void>(cache::Bundle::open(path, trusted_key(options)));  // says what is wrong
  }
  const fs::path absolute = fs::absolute(path);
  const LayerState state = look_at_layer(absolute, options);
  if (!state.problem.empty()) throw cache::Error(state.problem);
  const cache::CacheOptions only{.layers = {absolute}, .trusted_key = options.trusted_key};
  return std::move(layer_places(std::make_shared<cache::Cache>(only, warn)).front());
}

}  // namespace jitbag::tools
