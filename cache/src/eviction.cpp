#include "eviction.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "byte_lock.hpp"
#include "record_file.hpp"
#include "record_list.hpp"
#include "total.hpp"

namespace jitbag::cache {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr std::chrono::hours in_use{1};
constexpr milliseconds patience_far_above{1000};
constexpr int most_passes_in_the_dark = 2;

/// A folder far above its limit grows faster than the one who shrinks it removes, or he was
/// stopped: then the others wait a little, and in the end do it themselves.
milliseconds patience_at(std::optional<std::uint64_t> total, std::uint64_t max_bytes) {
  return total > max_bytes + max_bytes / 4 ? patience_far_above : milliseconds(0);
}

bool is_within(std::optional<std::uint64_t> total, std::uint64_t max_bytes) {
  return total && *total <= max_bytes;
}

void remove_one(const Folder& records, const Entry& entry, Evicted& evicted) {
  const std::string name = shard_name(entry.key) + "/" + record_name(entry.key);
  const auto info = records.information(name);
  if (info && last_used(*info) != entry.last_used) return;
  if (info && !S_ISREG(info->st_mode)) return;  // damage, and no bytes: prune removes it
  if (info && ::unlinkat(records.descriptor(), name.c_str(), 0) == 0) {
    ++evicted.records;
    evicted.bytes += entry.bytes;
    return;
  }
  if (info && errno != ENOENT) fail(records.path() / name, "cannot be removed");
  evicted.gone_bytes += entry.bytes;
}

void warn_of_work_in_hand(const Folder& root, std::uint64_t max_bytes, WarnOnce& warnings) {
  warnings.say("work in hand",
               fmt::format("The cache folder {} is too small for the work in hand: its limit of {} "
                           "bytes makes records leave that were used within the last hour; raise "
                           "JITBAG_CACHE_MAX_BYTES.",
                           root.path().string(), max_bytes));
}

/// False when someone else is at it.
bool shrink_once(const Folder& root, std::uint64_t max_bytes, milliseconds patience,
                 const Digest& spared, WarnOnce& warnings) {
  const ByteLock only_one(root, eviction_byte, patience);
  if (only_one.outcome() == LockOutcome::in_vain && patience == milliseconds(0)) return false;

  const Count count(root);
  if (count.before() <= max_bytes) return true;  // someone else has just done it
  for_each_folder(root, [](const Folder& folder) { folder.remove_leftovers(); });
  const std::vector<Entry> entries = list_records(root);
  const std::uint64_t counted = bytes_of(entries);
  if (counted <= max_bytes) {
    count.end(counted);
    return true;
  }

  const auto leaving = records_to_evict(entries, max_bytes - max_bytes / 10, spared);
  const Evicted evicted = evict(root, leaving);
  count.end(counted - evicted.bytes - evicted.gone_bytes);
  if (!evicted.problem.empty()) throw Trouble(evicted.problem);
  if (!leaving.empty() && system_clock::now() - leaving.back().last_used < in_use)
    warn_of_work_in_hand(root, max_bytes, warnings);
  return true;
}

}  // namespace

std::uint64_t bytes_of(const std::vector<Entry>& entries) {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries) sum += entry.bytes;
  return sum;
}

std::vector<Entry> records_to_evict(std::vector<Entry> entries, std::uint64_t max_bytes,
                                    const std::optional<Digest>& spared) {
  std::uint64_t left = bytes_of(entries);
  std::erase_if(entries, [&](const Entry& entry) { return entry.key == spared; });
  std::ranges::stable_sort(entries, {}, &Entry::last_used);
  const auto stays = std::ranges::find_if(entries, [&](const Entry& entry) {
    if (left <= max_bytes) return true;
    left -= entry.bytes;
    return false;
  });
  entries.erase(stays, entries.end());
  return entries;
}

Evicted evict(const Folder& root, const std::vector<Entry>& leaving) {
  Evicted evicted;
  const auto records = root.open_inside(records_name);
  if (!records) return evicted;
  for (const Entry& entry : leaving) {
    try {
      remove_one(*records, entry, evicted);
    } catch (const Trouble& problem) {
      evicted.problem = problem.what();
    }
  }
  return evicted;
}

void keep_within(const Folder& root, std::uint64_t max_bytes, std::optional<std::uint64_t> total,
                 const Digest& spared, WarnOnce& warnings) {
  milliseconds patience = patience_at(total, max_bytes);
  // Whoever stored while this one evicted has left it to him: he looks again once he has let go.
  // Where the total cannot be kept nobody ever knows, and he does not go on for ever.
  int passes_in_the_dark = 0;
  while (passes_in_the_dark < most_passes_in_the_dark && !is_within(total, max_bytes)) {
    if (!shrink_once(root, max_bytes, patience, spared, warnings)) return;
    patience = milliseconds(0);  // it was waited for once
    total = Total(root).known();
    if (!total) ++passes_in_the_dark;
  }
}

}  // namespace jitbag::cache
