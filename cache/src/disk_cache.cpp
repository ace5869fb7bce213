#include "jitbag/cache/disk_cache.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "byte_lock.hpp"
#include "eviction.hpp"
#include "folder.hpp"
#include "jitbag/cache/environment.hpp"
#include "limits.hpp"
#include "producer_files.hpp"
#include "producer_rules.hpp"
#include "record_file.hpp"
#include "total.hpp"
#include "warn_once.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> absolute_from(const char* variable) {
  auto value = environment(variable);
  if (!value || !value->starts_with('/')) return {};
  return std::move(*value);
}

std::string unusable_sentence(const fs::path& directory, std::string_view reason) {
  return fmt::format(
      "The cache folder {} is not used: {}; set JITBAG_CACHE_DIR to a folder of your own that can "
      "be written.",
      directory.string(), reason);
}

/// Never in the way of the record that was just stored: where this fails, there is a warning.
void try_to_keep_within(const Folder& root, std::uint64_t max_bytes,
                        std::optional<std::uint64_t> total, const Digest& stored,
                        WarnOnce& warnings) {
  if (max_bytes == 0) return;
  try {
    keep_within(root, max_bytes, total, stored, warnings);
  } catch (const Trouble& problem) {
    warnings.say("limit", fmt::format("The cache folder {} may grow above its limit of {} bytes: "
                                      "{}; see who owns what is in it.",
                                      root.path().string(), max_bytes, problem.what()));
  }
}

}  // namespace

std::optional<fs::path> default_directory() {
  if (auto own = absolute_from("JITBAG_CACHE_DIR")) return own;
  if (const auto caches = absolute_from("XDG_CACHE_HOME")) return *caches / "jitbag";
  if (const auto home = absolute_from("HOME")) return *home / ".cache" / "jitbag";
  return {};
}

DiskCache::DiskCache(fs::path directory, Warn warn, std::uint64_t max_bytes)
    : directory_(tidied(std::move(directory))),
      max_bytes_(max_bytes),
      warnings_(std::make_shared<WarnOnce>(std::move(warn),
                                           [directory = directory_](std::string_view reason) {
                                             return unusable_sentence(directory, reason);
                                           })) {}

fs::path DiskCache::path_of(const Digest& key) const {
  return record_path(directory_, key);
}

std::optional<Record> DiskCache::find(const Digest& key) const {
  return warnings_->attempt(std::optional<Record>{}, [&]() -> std::optional<Record> {
    const auto root = Folder::open(directory_, Trust::own);
    const auto shard = root ? open_shard(*root, key) : std::nullopt;
    if (!shard) return {};
    RecordLook look = look_at_record(*shard, key, Use::noted);
    if (!look.problem.empty())
      warnings_->say(look.flaw == Flaw::foreign ? "foreign record" : "damage " + key.hex(),
                     fmt::format("The record {} is not used and will be replaced: {}",
                                 path_of(key).string(), look.problem));
    return std::move(look.record);
  });
}

bool DiskCache::store(const Record& record) const {
  return warnings_->attempt(false, [&] {
    const Digest key = record.key();
    const std::vector<std::byte> bytes = encode(record);
    if (!is_allowed(bytes.size())) return false;
    const Folder root = Folder::make(directory_);
    const Folder shard = root.make_inside(records_name).make_inside(shard_name(key));
    if (look_at_record(shard, key, Use::noted).record) return true;
    shard.remove_leftovers();
    Folder::NewFile file(shard, bytes);
    const auto total = Total(root).add(bytes.size(), [&] { file.publish(record_name(key)); });
    shard.sync();
    try_to_keep_within(root, max_bytes_, total, key, *warnings_);
    return true;
  });
}

bool DiskCache::is_allowed(std::size_t record_bytes) const {
  const std::uint64_t allowed =
      max_bytes_ == 0 ? largest_record : std::min<std::uint64_t>(largest_record, max_bytes_);
  if (record_bytes <= allowed) return true;
  warnings_->say("too large",
                 fmt::format("A record of {} bytes is not kept in {}: at most {} are allowed{}.",
                             record_bytes, directory_.string(), allowed,
                             allowed < largest_record ? "; raise JITBAG_CACHE_MAX_BYTES" : ""));
  return false;
}

void DiskCache::discard(const Digest& key) const {
  warnings_->attempt(false, [&] {
    const auto root = Folder::open(directory_, Trust::own);
    if (const auto shard = root ? open_shard(*root, key) : std::nullopt)
      shard->remove(record_name(key));
    return true;
  });
}

Claim DiskCache::claim(const Digest& key, std::chrono::milliseconds patience) const {
  return warnings_->attempt(Claim(), [&] {
    ByteLock lock(Folder::make(directory_), claim_byte(key), patience);
    if (lock.outcome() == LockOutcome::no_file)
      throw Trouble(fmt::format("{} cannot be opened ({})", (directory_ / lock_name).string(),
                                lock.reason()));
    if (lock.outcome() == LockOutcome::in_vain)
      warnings_->say("in vain",
                     fmt::format("Another process has held the record {} for over {} ms; it is "
                                 "made here too.",
                                 path_of(key).string(), patience.count()));
    if (lock.outcome() == LockOutcome::unsupported)
      warnings_->say("no locks",
                     fmt::format("The file {} cannot be locked ({}), so two processes may make the "
                                 "same record; set JITBAG_CACHE_DIR to a folder on a local disk.",
                                 (directory_ / lock_name).string(), lock.reason()));
    return Claim(lock.release());
  });
}

void DiskCache::remember(const Producer& producer) const {
  warnings_->attempt(false, [&] {
    if (!is_valid_producer_id(producer.id)) {
      warnings_->say("producer id", bad_id_sentence(producer.id, directory_.string()));
      return false;
    }
    const Folder folder = Folder::make(directory_).make_inside(producers_name);
    if (look_at(folder, producer.id, longest_producer_description, Use::unnoted).bytes) return true;
    folder.remove_leftovers();
    folder.publish(producer.id, std::as_bytes(std::span(kept_description(producer.description))));
    return true;
  });
}

std::vector<Producer> DiskCache::producers() const {
  return warnings_->attempt(std::vector<Producer>{}, [&] {
    const auto root = Folder::open(directory_, Trust::own);
    return root ? read_producers(*root) : std::vector<Producer>{};
  });
}

DiskCache::Health DiskCache::health() const {
  try {
    const Folder records = Folder::make(directory_).make_inside(records_name);
    records.remove_leftovers();
    records.try_writing();
    return {true, fmt::format("Records are kept in {}.", directory_.string())};
  } catch (const std::exception& problem) {
    return {false, warnings_->unusable(problem.what())};
  }
}

}  // namespace jitbag::cache
