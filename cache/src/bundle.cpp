#include "jitbag/cache/bundle.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "bundle_file.hpp"
#include "bundle_format.hpp"
#include "compression.hpp"
#include "jitbag/cache/error.hpp"
#include "limits.hpp"

namespace jitbag::cache {
namespace {

using bundle_format::Codec;
using bundle_format::entry_size;
using bundle_format::Footer;
using bundle_format::IndexEntry;
using Bytes = std::vector<std::byte>;

Footer read_footer(const BundleFile& file) {
  if (file.size() < bundle_format::header_size + bundle_format::footer_size)
    file.refuse(fmt::format("it has {} bytes, too few for a bundle", file.size()));
  if (const std::string problem =
          bundle_format::problem_of_header(file.read(0, bundle_format::header_size));
      !problem.empty())
    file.refuse(problem);
  const Bytes end = file.read(file.size() - bundle_format::footer_size, bundle_format::footer_size);
  auto footer = bundle_format::decode_footer(end, file.size());
  if (!footer) file.refuse("its end is not that of a whole bundle");
  return *footer;
}

void require_signature(const BundleFile& file, const Footer& footer, const TrustedKey& trusted) {
  if (!footer.signature) file.refuse("it has no signature, and one by the trusted key is wanted");
  if (!trusted.has_signed(bundle_format::signed_part(footer), *footer.signature))
    file.refuse("its signature is not by the trusted key");
}

/// Read whole and found whole.
Bytes read_checked(const BundleFile& file, std::uint64_t offset, std::uint64_t size,
                   const Digest& digest, const char* part) {
  Bytes bytes = file.read(offset, size);
  if (sha256(bytes) != digest)
    file.refuse(fmt::format("the checksum of its {} does not fit", part));
  return bytes;
}

Bytes read_producers(const BundleFile& file, const Footer& footer) {
  return read_checked(file, footer.producers_offset, footer.producers_bytes,
                      footer.producers_digest, "producers");
}

Bytes read_index(const BundleFile& file, const Footer& footer) {
  return read_checked(file, footer.index_offset(), footer.index_bytes(), footer.index_digest,
                      "index");
}

IndexEntry entry_in(std::span<const std::byte> index, std::uint64_t number) {
  const auto start = static_cast<std::size_t>(number) * entry_size;
  return bundle_format::entry_from(index.subspan(start).first<entry_size>());
}

/// Why the record that an entry speaks of is not even read, as a clause; empty when it may be.
std::string problem_of(const IndexEntry& entry, std::uint64_t records_end) {
  using bundle_format::header_size;
  using bundle_format::largest_ratio;
  if (entry.offset < header_size || entry.offset > records_end ||
      entry.stored_bytes > records_end - entry.offset)
    return "lies outside of its place";
  if (entry.record_bytes > largest_record)
    return fmt::format("claims {} bytes, more than the {} allowed", entry.record_bytes,
                       largest_record);
  switch (entry.codec) {
    case Codec::plain:
      return entry.stored_bytes == entry.record_bytes ? "" : "has two sizes";
    case Codec::zstd:
      if (entry.stored_bytes > entry.record_bytes) return "is larger packed than unpacked";
      if ((entry.record_bytes + largest_ratio - 1) / largest_ratio > entry.stored_bytes)
        return fmt::format("claims to unpack {} bytes to {}", entry.stored_bytes,
                           entry.record_bytes);
      return {};
  }
  return fmt::format("is packed in a way unknown here ({})",
                     static_cast<std::uint64_t>(entry.codec));
}

[[noreturn]] void refuse_record(const BundleFile& file, const IndexEntry& entry,
                                std::string_view clause) {
  throw Error(
      fmt::format("The record {} in the bundle {} is not used: it {}; copy or export the "
                  "bundle again.",
                  entry.key.hex(), file.path().string(), clause));
}

Bytes read_record_bytes(const BundleFile& file, const IndexEntry& entry) {
  Bytes stored = file.read(entry.offset, entry.stored_bytes);
  // Before anything looks at them: what reaches the unpacker is what was packed.
  if (sha256(stored) != entry.stored_digest)
    refuse_record(file, entry, "does not fit its checksum");
  if (entry.codec == Codec::plain) return stored;
  auto bytes = decompress(stored, static_cast<std::size_t>(entry.record_bytes));
  if (!bytes) refuse_record(file, entry, "does not unpack to the size it claims");
  return std::move(*bytes);
}

Record read_record(const BundleFile& file, const IndexEntry& entry, std::uint64_t records_end) {
  if (const std::string problem = problem_of(entry, records_end); !problem.empty())
    refuse_record(file, entry, problem);
  Decoded decoded = decode(read_record_bytes(file, entry));
  if (!decoded.record) refuse_record(file, entry, fmt::format("is damaged: {}", decoded.problem));
  if (decoded.record->key() != entry.key) refuse_record(file, entry, "has another key");
  return std::move(*decoded.record);
}

}  // namespace

struct Bundle::State {
  /// What a signature vouched for when the bundle was opened. The file may be another user's, who
  /// can change it at any time, so this is kept and not read again.
  struct Vouched {
    Bytes producers;
    Bytes index;
  };

  BundleFile file;
  Footer footer;
  std::optional<Vouched> vouched;

  [[nodiscard]] Bytes producers() const {
    return vouched ? vouched->producers : read_producers(file, footer);
  }
  [[nodiscard]] Bytes index() const { return vouched ? vouched->index : read_index(file, footer); }

  [[nodiscard]] IndexEntry entry(std::uint64_t number) const {
    if (vouched) return entry_in(vouched->index, number);
    return entry_in(file.read(footer.index_offset() + number * entry_size, entry_size), 0);
  }

  /// A few dozen small reads of a file that is in memory, instead of an index held by each process.
  [[nodiscard]] std::optional<IndexEntry> find(const Digest& key) const {
    std::uint64_t first = 0;
    std::uint64_t end = footer.records;
    while (first < end) {
      const std::uint64_t middle = first + (end - first) / 2;
      IndexEntry candidate = entry(middle);
      if (candidate.key == key) return candidate;
      if (candidate.key.bytes < key.bytes)
        first = middle + 1;
      else
        end = middle;
    }
    return {};
  }
};

Bundle Bundle::open(const std::filesystem::path& path, const std::optional<TrustedKey>& trusted) {
  using Writers = BundleFile::Writers;
  BundleFile file(path, trusted ? Writers::anyone : Writers::this_user_and_root);
  Footer footer = read_footer(file);
  std::optional<State::Vouched> vouched;
  if (trusted) {
    require_signature(file, footer, *trusted);
    vouched = State::Vouched{read_producers(file, footer), read_index(file, footer)};
  }
  return Bundle(std::make_shared<const State>(State{std::move(file), footer, std::move(vouched)}));
}

const std::filesystem::path& Bundle::path() const noexcept {
  return state_->file.path();
}

bool Bundle::is_signed() const noexcept {
  return state_->footer.signature.has_value();
}

std::size_t Bundle::size() const noexcept {
  return static_cast<std::size_t>(state_->footer.records);
}

std::vector<Bundle::Entry> Bundle::entries() const {
  const Bytes index = state_->index();
  std::vector<Entry> entries;
  entries.reserve(size());
  for (std::uint64_t i = 0; i < size(); ++i) {
    const IndexEntry entry = entry_in(index, i);
    if (!entries.empty() && !(entries.back().key.bytes < entry.key.bytes))
      state_->file.refuse("its index is out of order");
    entries.push_back({entry.key, entry.record_bytes, entry.stored_bytes});
  }
  return entries;
}

std::vector<Producer> Bundle::producers() const {
  auto producers = bundle_format::decode_producers(state_->producers());
  if (!producers) state_->file.refuse("its list of producers is malformed");
  return std::move(*producers);
}

std::optional<Record> Bundle::find(const Digest& key) const {
  const auto entry = state_->find(key);
  if (!entry) return {};
  return read_record(state_->file, *entry, state_->footer.producers_offset);
}

}  // namespace jitbag::cache
