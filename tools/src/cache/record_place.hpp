#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/cache/cache.hpp"

namespace jitbag::tools {

/// A folder or bundle whose records are looked at by a person: that counts as no use of them.
class RecordPlace {
 public:
  using Time = std::chrono::system_clock::time_point;

  /// All that the layer has.
  explicit RecordPlace(std::shared_ptr<const cache::Layer> layer);
  /// The entries of a folder, as the layer reads them.
  RecordPlace(std::shared_ptr<const cache::Layer> layer, const std::vector<cache::Entry>& entries);

  [[nodiscard]] std::string where() const { return layer_->where(); }
  [[nodiscard]] const std::vector<cache::Digest>& keys() const { return keys_; }
  /// Nothing for one that is damaged, or gone meanwhile.
  [[nodiscard]] std::optional<cache::Record> find(const cache::Digest& key) const {
    return layer_->find(key);
  }
  /// Known of the cache folder alone.
  [[nodiscard]] std::optional<Time> last_used(const cache::Digest& key) const;
  [[nodiscard]] std::vector<cache::Producer> producers() const { return layer_->producers(); }

 private:
  std::shared_ptr<const cache::Layer> layer_;
  std::vector<cache::Digest> keys_;
  std::map<std::string, Time> used_;  // by key
};

/// The cache folder. Throws cache::Error where there is none, or where it is refused.
[[nodiscard]] RecordPlace folder_place(const cache::CacheOptions& options);

/// The cache folder, if there is one, then the layers.
[[nodiscard]] std::vector<RecordPlace> all_places(const cache::CacheOptions& options);

/// Why layers that are asked for cannot be used, each with its path.
struct UnusableLayer {
  std::filesystem::path path;
  std::string problem;
};
[[nodiscard]] std::vector<UnusableLayer> unusable_layers(const cache::CacheOptions& options);

/// A bundle or folder that the user named. Throws cache::Error where it cannot be used.
[[nodiscard]] RecordPlace named_place(const std::filesystem::path& path,
                                      const cache::CacheOptions& options);

/// The key that bundles must be signed with, if any. Throws cache::Error.
[[nodiscard]] std::optional<cache::TrustedKey> trusted_key(const cache::CacheOptions& options);

/// The folder that is written to. Throws cache::Error where there is none.
[[nodiscard]] cache::DiskCache folder_of(const cache::CacheOptions& options);

}  // namespace jitbag::tools
