#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bundle_format.hpp"
#include "cache/cache_folder.hpp"
#include "jitbag/cache/bundle.hpp"

namespace jitbag::test {

/// A record that cannot be packed.
inline cache::Record dense_sample(const std::string& name) {
  cache::Record record = sample(name);
  for (int i = 0; i < 20; ++i) {
    const cache::Digest noise = cache::sha256(record.payload);
    record.payload.insert(record.payload.end(), noise.bytes.begin(), noise.bytes.end());
  }
  return record;
}

/// What a bundle of these records is made from.
inline cache::BundleContents contents_of(const std::vector<cache::Record>& all) {
  std::map<std::string, cache::Record> records;
  cache::BundleContents contents;
  for (const cache::Record& record : all) {
    contents.keys.push_back(record.key());
    records[record.key().hex()] = record;
  }
  contents.producers = {{"build-b", "the second"}, {"build-a", "the first"}};
  contents.read = [records](const cache::Digest& key) -> std::optional<cache::Record> {
    const auto found = records.find(key.hex());
    if (found == records.end()) return {};
    return found->second;
  };
  return contents;
}

inline cache::BundleContents contents_of(const std::vector<std::string>& names) {
  std::vector<cache::Record> records;
  for (const std::string& name : names) records.push_back(sample(name));
  return contents_of(records);
}

/// A bundle taken to pieces, to be put together wrongly. `bytes` makes every checksum fit, as
/// someone who means harm would.
struct ForgedBundle {
  std::vector<std::byte> records;  ///< header and stored records
  std::vector<std::byte> producers;
  std::vector<cache::bundle_format::IndexEntry> index;

  explicit ForgedBundle(const std::string& content) {
    namespace format = cache::bundle_format;
    const auto all = bytes_of(content);
    const std::span<const std::byte> view(all);
    const auto footer = format::decode_footer(view.last(format::footer_size), view.size()).value();
    const auto part = [&](std::uint64_t offset, std::uint64_t size) {
      const auto bytes = view.subspan(offset, size);
      return std::vector(bytes.begin(), bytes.end());
    };
    records = part(0, footer.producers_offset);
    producers = part(footer.producers_offset, footer.producers_bytes);
    for (std::uint64_t i = 0; i < footer.records; ++i)
      index.push_back(
          format::entry_from(view.subspan(footer.index_offset() + i * format::entry_size)
                                 .first<format::entry_size>()));
  }

  /// The stored bytes of an entry, to be changed.
  [[nodiscard]] std::span<std::byte> stored(const cache::bundle_format::IndexEntry& entry) {
    return std::span(records).subspan(entry.offset, entry.stored_bytes);
  }

  [[nodiscard]] std::string bytes() const {
    namespace format = cache::bundle_format;
    cache::ByteWriter entries(0);
    for (const auto& entry : index) format::add_entry(entries, entry);
    const format::Footer footer{records.size(),
                                producers.size(),
                                index.size(),
                                cache::sha256(producers),
                                cache::sha256(entries.bytes()),
                                {}};
    const std::vector<std::byte> end = format::encode_footer(footer);
    std::string text;
    for (const std::span<const std::byte> part :
         {std::span<const std::byte>(records), std::span<const std::byte>(producers),
          entries.bytes(), std::span<const std::byte>(end)})
      text.append(reinterpret_cast<const char*>(part.data()), part.size());
    return text;
  }
};

}  // namespace jitbag::test
