#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jitbag/cache/key.hpp"
#include "jitbag/cache/record.hpp"

namespace jitbag::cache {

/// $JITBAG_CACHE_DIR, else $XDG_CACHE_HOME/jitbag, else ~/.cache/jitbag. A relative or empty value
/// counts as unset (XDG Base Directory Specification); nothing when none is set.
[[nodiscard]] std::optional<std::filesystem::path> default_directory();

/// Who makes the payloads, such as one build of a compiler. Remembered beside the records so that
/// they can be found where that compiler is not installed.
struct Producer {
  std::string id;           ///< goes into keys as a field of the caller's
  std::string description;  ///< for people
  bool operator==(const Producer&) const = default;
};

/// The right to make one record. While it lives, other processes that ask for the same key wait.
/// Released by its destructor, and by the kernel when the process dies.
class Claim {
 public:
  Claim() = default;
  explicit Claim(int descriptor) : descriptor_(descriptor) {}
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&& other) noexcept;
  ~Claim();

 private:
  int descriptor_ = -1;
};

/// A folder of records. Knows bytes and keys, and nothing of what they mean. Any number of threads
/// and processes may use one folder. No method throws: a cache that cannot work is a cache that
/// misses, with one warning.
class DiskCache {
 public:
  using Warn = std::function<void(std::string_view sentence)>;

  /// Opens nothing and makes nothing: the folder is made at the first store.
  DiskCache(std::filesystem::path directory, Warn warn);

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// The record, if a whole one with this very key is there. Damage of any kind is a miss, with a
  /// warning; the next store replaces it.
  [[nodiscard]] std::optional<Record> find(const Digest& key) const;

  /// Publishes the record under its key: all of it or none of it (temporary file, fsync, rename,
  /// fsync of the folder). True when it is there. A record that is already there whole is left
  /// alone.
  bool store(const Record& record) const;

  /// Removes the record under this key, whole or not: for one that turned out to be of no use.
  void discard(const Digest& key) const;

  /// Waits until no other process holds the key's claim, at most `patience`, then takes it. The
  /// claim is returned even when locks do not work or the wait was in vain: then two may compile,
  /// and neither breaks.
  [[nodiscard]] Claim claim(const Digest& key, std::chrono::milliseconds patience) const;

  /// Remembers a producer; does nothing when it is known.
  void remember(const Producer& producer) const;
  /// Those remembered, the last remembered first.
  [[nodiscard]] std::vector<Producer> producers() const;

  /// The file that holds, or would hold, the record.
  [[nodiscard]] std::filesystem::path path_of(const Digest& key) const;

  /// Whether records can be written here, and if not, why: a sentence. Makes the folder if need be.
  struct Health {
    bool usable = false;
    std::string sentence;
  };
  [[nodiscard]] Health health() const;

 private:
  struct Once;
  std::filesystem::path directory_;
  std::shared_ptr<Once> once_;
};

}  // namespace jitbag::cache
