#include "record_list.hpp"

#include <algorithm>
#include <string_view>

#include "producer_files.hpp"
#include "record_file.hpp"

namespace jitbag::cache {
namespace {

constexpr std::string_view record_ending = ".record";

bool is_shard_name(std::string_view name) {
  return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void for_each_shard(const Folder& records, const std::function<void(const Folder&)>& call) {
  for (const std::string& name : records.names()) {
    if (!is_shard_name(name)) continue;
    if (const auto shard = records.open_inside(name)) call(*shard);
  }
}

std::optional<Digest> key_of_name(std::string_view name) {
  if (!name.ends_with(record_ending)) return {};
  name.remove_suffix(record_ending.size());
  return Digest::from_hex(name);
}

void add_records(std::vector<Entry>& entries, const Folder& shard) {
  for (const std::string& name : shard.names()) {
    const auto key = key_of_name(name);
    if (!key || shard.path().filename() != shard_name(*key)) continue;
    const auto info = shard.information(name);
    if (!info) continue;
    const auto bytes = S_ISREG(info->st_mode) ? static_cast<std::uint64_t>(info->st_size) : 0;
    entries.push_back({*key, bytes, last_used(*info)});
  }
}

}  // namespace

std::chrono::system_clock::time_point last_used(const struct stat& info) {
  using namespace std::chrono;
  return system_clock::time_point(duration_cast<system_clock::duration>(
      seconds(info.st_mtim.tv_sec) + nanoseconds(info.st_mtim.tv_nsec)));
}

std::vector<Entry> list_records(const Folder& root) {
  std::vector<Entry> entries;
  if (const auto records = root.open_inside(records_name))
    for_each_shard(*records, [&](const Folder& shard) { add_records(entries, shard); });
  std::ranges::sort(entries, {}, [](const Entry& entry) { return entry.key.bytes; });
  return entries;
}

void for_each_folder(const Folder& root, const std::function<void(const Folder&)>& call) {
  call(root);
  if (const auto producers = root.open_inside(producers_name)) call(*producers);
  const auto records = root.open_inside(records_name);
  if (!records) return;
  call(*records);
  for_each_shard(*records, call);
}

}  // namespace jitbag::cache
