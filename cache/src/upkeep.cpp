// What people do with a cache folder: list, verify, prune, clear.
#include <chrono>
#include <cstdint>
#include <utility>

#include "eviction.hpp"
#include "folder.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "jitbag/cache/error.hpp"
#include "producer_files.hpp"
#include "record_file.hpp"
#include "record_list.hpp"
#include "total.hpp"
#include "warn_once.hpp"

namespace jitbag::cache {
namespace {

/// What the action gives for the folder; where there is no folder, nothing at all. Throws Error.
template <class Action>
auto in_folder(const std::filesystem::path& directory, const WarnOnce& warnings, Action&& action) {
  try {
    const auto root = Folder::open(directory, Trust::own);
    return root ? action(*root) : decltype(action(*root)){};
  } catch (const Trouble& problem) {
    throw Error(warnings.unusable(problem.what()));
  }
}

RecordLook look_at_entry(const Folder& root, const Digest& key) {
  const auto shard = open_shard(root, key);
  return shard ? look_at_record(*shard, key, Use::unnoted) : RecordLook{};
}

void remove_record(const Folder& root, const Digest& key) {
  if (const auto shard = open_shard(root, key)) shard->remove(record_name(key));
}

/// Takes out of the list what is of no use, and gives it. What only cannot be read now stays.
std::vector<Entry> take_damaged(const Folder& root, std::vector<Entry>& entries) {
  std::vector<Entry> damaged;
  std::erase_if(entries, [&](const Entry& entry) {
    const RecordLook look = look_at_entry(root, entry.key);
    if (look.problem.empty() || look.flaw == Flaw::unreadable) return false;
    damaged.push_back(entry);
    return true;
  });
  return damaged;
}

enum class Mode { real, dry_run };

std::uint64_t take_leftovers(const Folder& root, std::chrono::seconds age, Mode mode) {
  std::uint64_t count = 0;
  for_each_folder(root, [&](const Folder& folder) {
    for (const std::string& name : folder.leftovers(age)) {
      if (mode == Mode::real) folder.remove(name);
      ++count;
    }
  });
  return count;
}

Removed sum_of(const std::vector<Entry>& damaged, std::uint64_t leftovers) {
  return {damaged.size(), bytes_of(damaged), leftovers};
}

Removed would_prune(const Folder& root, std::uint64_t max_bytes) {
  std::vector<Entry> entries = list_records(root);
  Removed removed =
      sum_of(take_damaged(root, entries), take_leftovers(root, leftover_age, Mode::dry_run));
  if (max_bytes == 0) return removed;
  const auto leaving = records_to_evict(entries, max_bytes);
  removed.records += leaving.size();
  removed.record_bytes += bytes_of(leaving);
  return removed;
}

void recount(const Folder& root) {
  const Count count(root);
  count.end(bytes_of(list_records(root)));
}

Removed prune_now(const Folder& root, std::uint64_t max_bytes) {
  std::vector<Entry> entries = list_records(root);
  const std::vector<Entry> damaged = take_damaged(root, entries);
  for (const Entry& entry : damaged) remove_record(root, entry.key);
  Removed removed = sum_of(damaged, take_leftovers(root, leftover_age, Mode::real));
  Evicted evicted;
  if (max_bytes != 0) evicted = evict(root, records_to_evict(entries, max_bytes));
  recount(root);
  if (!evicted.problem.empty()) throw Trouble(evicted.problem);
  removed.records += evicted.records;
  removed.record_bytes += evicted.bytes;
  return removed;
}

Removed clear_now(const Folder& root) {
  const std::vector<Entry> entries = list_records(root);
  for (const Entry& entry : entries) remove_record(root, entry.key);
  if (const auto producers = root.open_inside(producers_name))
    for (const std::string& name : producer_files(*producers)) producers->remove(name);
  root.remove(total_name);
  return sum_of(entries, take_leftovers(root, std::chrono::seconds::min(), Mode::real));
}

}  // namespace

std::vector<Entry> DiskCache::entries() const {
  return in_folder(directory_, *warnings_, list_records);
}

std::uint64_t DiskCache::leftovers() const {
  return in_folder(directory_, *warnings_, [](const Folder& root) {
    return take_leftovers(root, leftover_age, Mode::dry_run);
  });
}

Verified DiskCache::verify(
    const std::function<void(std::size_t done, std::size_t all)>& progress) const {
  return in_folder(directory_, *warnings_, [&](const Folder& root) {
    Verified verified;
    const std::vector<Entry> entries = list_records(root);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Digest& key = entries[i].key;
      RecordLook look = look_at_entry(root, key);
      if (look.record) ++verified.whole;
      verified.bytes += look.bytes;
      if (!look.problem.empty())
        verified.damaged.push_back({path_of(key), std::move(look.problem)});
      if (progress) progress(i + 1, entries.size());
    }
    return verified;
  });
}

Removed DiskCache::prune(const Pruning& pruning) const {
  return in_folder(directory_, *warnings_, [&](const Folder& root) {
    return pruning.dry_run ? would_prune(root, pruning.max_bytes)
                           : prune_now(root, pruning.max_bytes);
  });
}

Removed DiskCache::clear() const {
  return in_folder(directory_, *warnings_, clear_now);
}

}  // namespace jitbag::cache
