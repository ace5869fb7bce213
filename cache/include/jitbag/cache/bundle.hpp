#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jitbag/cache/layer.hpp"
#include "jitbag/cache/signature.hpp"

namespace jitbag::cache {

/// Many records in one file, to ship: read where it lies, without unpacking. docs/cache.md has the
/// format. Any number of threads may read one.
class Bundle {
 public:
  struct Entry {
    Digest key;
    std::uint64_t record_bytes = 0;  ///< as encode() gives them
    std::uint64_t stored_bytes = 0;  ///< as they lie in the file
  };

  /// Reads the end of the file, and with a trusted key the whole index. Throws Error: no bundle,
  /// damaged, of another version; with a trusted key, one that this key has not signed; without,
  /// one that another user but root could have written.
  [[nodiscard]] static Bundle open(const std::filesystem::path& path,
                                   const std::optional<TrustedKey>& trusted = {});

  [[nodiscard]] const std::filesystem::path& path() const noexcept;
  [[nodiscard]] bool is_signed() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;  ///< records
  /// In the order of their keys.
  [[nodiscard]] std::vector<Entry> entries() const;
  [[nodiscard]] std::vector<Producer> producers() const;

  /// Nothing when the bundle has no such key. Throws Error for a record that is damaged.
  [[nodiscard]] std::optional<Record> find(const Digest& key) const;

 private:
  struct State;
  explicit Bundle(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// What a bundle is made from. The same contents give the same bytes.
struct BundleContents {
  std::vector<Digest> keys;  ///< in any order, each once or more
  std::vector<Producer> producers;
  /// Gives the record of a key; one that is gone meanwhile is left out.
  std::function<std::optional<Record>(const Digest&)> read;
};

struct BundleSummary {
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t file_bytes = 0;
};

/// Writes a bundle: all of it or, where that throws Error, nothing. A file in its place is
/// replaced.
BundleSummary write_bundle(const std::filesystem::path& path, const BundleContents& contents,
                           const std::optional<SigningKey>& signing = {});

}  // namespace jitbag::cache
