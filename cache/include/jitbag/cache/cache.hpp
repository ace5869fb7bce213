#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jitbag/cache/disk_cache.hpp"
#include "jitbag/cache/layer.hpp"
#include "jitbag/cache/remote.hpp"
#include "jitbag/cache/warn.hpp"

namespace jitbag::cache {

/// Where records are looked for, in this order, and where they are kept.
struct CacheOptions {
  std::optional<std::filesystem::path> directory = {};  ///< the folder that is written to
  std::uint64_t max_bytes = default_max_bytes;          ///< of that folder's records
  /// Folders and bundles that are only read. Which of the two a path is, is seen when it is first
  /// needed.
  std::vector<std::filesystem::path> layers = {};
  std::optional<std::string> remote = {};  ///< url
  bool remote_write = false;
  /// Ed25519 public key (PEM): bundles and remote records that it has not signed are refused.
  std::optional<std::filesystem::path> trusted_key = {};
  /// Ed25519 private key (PEM): signs what is written to the remote.
  std::optional<std::filesystem::path> signing_key = {};
};

/// JITBAG_CACHE_DIR, _PATH, _MAX_BYTES, _REMOTE, _REMOTE_WRITE, _TRUST and _SIGN. A value that
/// means nothing is said and left out. A program with set-uid rights gets no folder, no layer and
/// no remote: its environment is another user's.
[[nodiscard]] CacheOptions options_from_environment(const Warn& warn);

/// A number of bytes as people write it: "1073741824", "512M", "2G", the letters K, M, G and T as
/// powers of 1024. Nothing when the text is something else.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

struct Found {
  Record record;
  Place place = Place::folder;
  std::string where;  ///< the folder, the bundle or the url
};

/// One folder that is written to, above layers that are only read, above a remote. Any number of
/// threads and processes. No method throws. Making one opens nothing.
class Cache {
 public:
  Cache(CacheOptions options, Warn warn);

  /// From the folder, else from the first layer that has it. Nothing is written anywhere but the
  /// time of use, in the folder.
  [[nodiscard]] std::optional<Found> find(const Digest& key) const;
  /// From the remote. Keeps it nowhere.
  [[nodiscard]] std::optional<Found> fetch(const Digest& key) const;

  /// Keeps the record in the folder. True when it is there.
  bool store(const Record& record) const;
  /// Writes the record, and who made it, to the remote, if that is wanted.
  void publish(const Record& record, const Producer& producer) const;
  /// Removes the record from the folder: for one that turned out to be of no use.
  void discard(const Digest& key) const;

  /// As DiskCache::claim; without a folder there is nobody to wait for.
  [[nodiscard]] Claim claim(const Digest& key, std::chrono::milliseconds patience) const;

  void remember(const Producer& producer) const;
  /// Of the folder, then of the layers; of the remote where these have none. Each once.
  [[nodiscard]] std::vector<Producer> producers() const;

  /// Null without one.
  [[nodiscard]] const DiskCache* folder() const noexcept;
  [[nodiscard]] const std::vector<std::unique_ptr<Layer>>& layers() const;
  /// Null without one.
  [[nodiscard]] const Remote* remote() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace jitbag::cache
