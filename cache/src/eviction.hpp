#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "folder.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "warn_once.hpp"

namespace jitbag::cache {

[[nodiscard]] std::uint64_t bytes_of(const std::vector<Entry>& entries);

/// Which of the records have to leave so that the others have at most `max_bytes` together: those
/// used longest ago, in this order. Never the spared one.
[[nodiscard]] std::vector<Entry> records_to_evict(std::vector<Entry> entries,
                                                  std::uint64_t max_bytes,
                                                  const std::optional<Digest>& spared = {});

/// What became of records that were to leave.
struct Evicted {
  std::uint64_t records = 0;     ///< removed here
  std::uint64_t bytes = 0;       ///< of these
  std::uint64_t gone_bytes = 0;  ///< of those that someone else had removed
  std::string problem;           ///< why one of them could not be removed: a clause
};

/// Removes records, but for those that were used since they were listed.
[[nodiscard]] Evicted evict(const Folder& root, const std::vector<Entry>& leaving);

/// Where the folder may hold more than `max_bytes` of records, by its total or because there is
/// none, counts them, and removes leftovers and as many records as it takes to be a tenth below.
/// One process at a time: the others go on meanwhile.
void keep_within(const Folder& root, std::uint64_t max_bytes, std::optional<std::uint64_t> total,
                 const Digest& spared, WarnOnce& warnings);

}  // namespace jitbag::cache
