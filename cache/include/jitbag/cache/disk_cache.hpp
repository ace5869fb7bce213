#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/cache/key.hpp"
#include "jitbag/cache/producer.hpp"
#include "jitbag/cache/record.hpp"
#include "jitbag/cache/warn.hpp"

namespace jitbag::cache {

/// $JITBAG_CACHE_DIR, else $XDG_CACHE_HOME/jitbag, else ~/.cache/jitbag. A relative or empty value
/// counts as unset (XDG Base Directory Specification); nothing when none is set.
[[nodiscard]] std::optional<std::filesystem::path> default_directory();

/// The size limit of a folder's records where nobody sets one.
inline constexpr std::uint64_t default_max_bytes = std::uint64_t{1} << 30;

/// A record as the folder's list shows it, without opening it.
struct Entry {
  Digest key;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point last_used;
};

/// What `prune` and `clear` removed, or would.
struct Removed {
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t leftovers = 0;  ///< files of processes that died
};

/// What `verify` found.
struct Verified {
  std::uint64_t whole = 0;
  std::uint64_t bytes = 0;
  struct Damage {
    std::filesystem::path path;
    std::string sentence;
  };
  std::vector<Damage> damaged;
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

class WarnOnce;

/// A folder of records. Knows bytes and keys, and nothing of what they mean. Any number of threads
/// and processes may use one folder. No method throws: a cache that cannot work is a cache that
/// misses, with one warning.
class DiskCache {
 public:
  /// Opens nothing and makes nothing: the folder is made at the first store. `max_bytes` of records
  /// are kept, those used last; 0 sets no limit.
  DiskCache(std::filesystem::path directory, Warn warn,
            std::uint64_t max_bytes = default_max_bytes);

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] std::uint64_t max_bytes() const noexcept { return max_bytes_; }

  /// The record, if a whole one with this very key is there. Damage of any kind is a miss, with a
  /// warning; the next store replaces it. Notes the time of use as the file's time of change, to
  /// the minute.
  [[nodiscard]] std::optional<Record> find(const Digest& key) const;

  /// Publishes the record under its key: all of it or none of it (temporary file, fsync, rename,
  /// fsync of the folder). True when it is there. A record that is already there whole is left
  /// alone. Where the folder has grown past its limit, the records used longest ago leave, until it
  /// is a tenth below; readers never wait for that.
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

  /// Every record, in the order of the keys. Lists the whole folder and opens no record. This and
  /// what follows is for upkeep by people; it throws Error.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// How many files lie here that processes left behind which died over an hour ago.
  [[nodiscard]] std::uint64_t leftovers() const;
  /// Reads every record. `progress` is told of each with the number of all.
  [[nodiscard]] Verified verify(
      const std::function<void(std::size_t done, std::size_t all)>& progress = {}) const;
  /// Removes damaged records, leftovers of processes that died, and the records used longest ago as
  /// far as they are over `max_bytes` together.
  struct Pruning {
    std::uint64_t max_bytes = 0;  ///< 0: no limit
    bool dry_run = false;
  };
  [[nodiscard]] Removed prune(const Pruning& pruning) const;
  /// Removes every record and producer and every leftover, and nothing that the cache has not made.
  [[nodiscard]] Removed clear() const;

 private:
  [[nodiscard]] bool is_allowed(std::size_t record_bytes) const;

  std::filesystem::path directory_;
  std::uint64_t max_bytes_;
  std::shared_ptr<WarnOnce> warnings_;
};

}  // namespace jitbag::cache
