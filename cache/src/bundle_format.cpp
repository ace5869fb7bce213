#include "bundle_format.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>

#include "bytes.hpp"
#include "producer_rules.hpp"
#include "signed_message.hpp"

namespace jitbag::cache::bundle_format {
namespace {

constexpr std::string_view header_magic = "JITBAGBN";
constexpr std::string_view footer_magic = "JITBAGBE";
constexpr std::string_view signed_kind = "jitbag bundle";
constexpr std::uint64_t format_version = 1;
constexpr std::size_t smallest_producer = 16;  // two empty texts

bool is(std::optional<std::span<const std::byte>> bytes, std::string_view magic) {
  return bytes && std::ranges::equal(*bytes, std::as_bytes(std::span(magic)));
}

/// From bytes that are long enough.
template <class Array>
Array take_array(ByteReader& reader) {
  Array array{};
  if (const auto bytes = reader.take(array.size())) std::ranges::copy(*bytes, array.begin());
  return array;
}

void add_places(ByteWriter& writer, const Footer& footer) {
  writer.add_number(footer.producers_offset);
  writer.add_number(footer.producers_bytes);
  writer.add_number(footer.records);
  writer.add(footer.producers_digest.bytes);
  writer.add(footer.index_digest.bytes);
}

/// The parts lie one behind the other, from the header to the footer, with nothing between.
bool fills(const Footer& footer, std::uint64_t file_bytes) {
  const std::uint64_t end = file_bytes - footer_size;
  return footer.producers_offset >= header_size && footer.producers_offset <= end &&
         footer.producers_bytes <= largest_part &&
         footer.producers_bytes <= end - footer.producers_offset &&
         footer.records <= largest_part / entry_size &&
         footer.index_bytes() == end - footer.index_offset();
}

}  // namespace

std::vector<std::byte> encode_header() {
  ByteWriter writer(header_size);
  writer.add(header_magic);
  writer.add_number(format_version);
  return std::move(writer).take();
}

std::string problem_of_header(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  if (!is(reader.take(header_magic.size()), header_magic))
    return "it does not start as a bundle does";
  const auto version = reader.take_number();
  if (!version) return "it is cut short";
  if (*version != format_version)
    return fmt::format("its format version is {}, and this program reads {}", *version,
                       format_version);
  return {};
}

void add_entry(ByteWriter& writer, const IndexEntry& entry) {
  writer.add(entry.key.bytes);
  writer.add_number(entry.offset);
  writer.add_number(entry.stored_bytes);
  writer.add_number(entry.record_bytes);
  writer.add_number(static_cast<std::uint64_t>(entry.codec));
  writer.add(entry.stored_digest.bytes);
}

IndexEntry entry_from(std::span<const std::byte, entry_size> bytes) {
  ByteReader reader(bytes);
  IndexEntry entry;
  entry.key.bytes = take_array<decltype(Digest::bytes)>(reader);
  entry.offset = reader.take_number().value_or(0);
  entry.stored_bytes = reader.take_number().value_or(0);
  entry.record_bytes = reader.take_number().value_or(0);
  entry.codec = static_cast<Codec>(reader.take_number().value_or(0));
  entry.stored_digest.bytes = take_array<decltype(Digest::bytes)>(reader);
  return entry;
}

std::vector<std::byte> encode_producers(std::span<const Producer> producers) {
  ByteWriter writer(8 + 100 * producers.size());
  writer.add_number(producers.size());
  for (const Producer& producer : producers) {
    writer.add_sized(std::as_bytes(std::span(producer.id)));
    writer.add_sized(std::as_bytes(std::span(producer.description)));
  }
  return std::move(writer).take();
}

std::optional<std::vector<Producer>> decode_producers(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto count = reader.take_number();
  if (!count || *count > reader.left() / smallest_producer) return {};
  std::vector<Producer> producers;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto id = reader.take_sized();
    const auto description = reader.take_sized();
    if (!id || !description || description->size() > longest_producer_description) return {};
    producers.push_back({text_of(*id), text_of(*description)});
    if (!is_valid_producer_id(producers.back().id)) return {};
  }
  if (reader.left() != 0) return {};
  return producers;
}

std::vector<std::byte> signed_part(const Footer& footer) {
  ByteWriter writer(footer_size);
  writer.add_number(format_version);
  add_places(writer, footer);
  return signed_message(signed_kind, writer.bytes());
}

std::vector<std::byte> encode_footer(const Footer& footer) {
  ByteWriter writer(footer_size);
  add_places(writer, footer);
  writer.add_number(footer.signature ? 1 : 0);
  writer.add(footer.signature.value_or(Signature{}));
  writer.add(footer_magic);
  return std::move(writer).take();
}

std::optional<Footer> decode_footer(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  if (bytes.size() != footer_size || file_bytes < header_size + footer_size) return {};
  ByteReader reader(bytes);
  Footer footer;
  footer.producers_offset = reader.take_number().value_or(0);
  footer.producers_bytes = reader.take_number().value_or(0);
  footer.records = reader.take_number().value_or(0);
  footer.producers_digest.bytes = take_array<decltype(Digest::bytes)>(reader);
  footer.index_digest.bytes = take_array<decltype(Digest::bytes)>(reader);
  const auto is_signed = reader.take_number();
  const auto signature = take_array<Signature>(reader);
  if (is_signed == 1)
    footer.signature = signature;
  else if (is_signed != 0 || signature != Signature{})
    return {};
  if (!is(reader.take(footer_magic.size()), footer_magic) || !fills(footer, file_bytes)) return {};
  return footer;
}

}  // namespace jitbag::cache::bundle_format
