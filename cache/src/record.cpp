// A record, byte by byte (docs/cache.md says the same at length):
//
//   8 bytes             "JITBAGRC"
//   number              format version, 1
//   number              how many fields
//     sized, sized      name and value of each
//   sized               payload
//   32 bytes            SHA-256 of every byte before it
//
// A number is 64-bit little-endian; "sized" is a number of bytes, then the bytes.
#include "jitbag/cache/record.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "bytes.hpp"

namespace jitbag::cache {
namespace {

constexpr std::string_view magic = "JITBAGRC";
constexpr std::uint64_t format_version = 1;
constexpr std::size_t digest_size = sizeof(Digest::bytes);
constexpr std::size_t smallest_field = 16;  // two empty texts

Decoded refuse(std::string problem) {
  return {{}, std::move(problem)};
}

std::optional<std::vector<Field>> take_fields(ByteReader& reader) {
  const auto count = reader.take_number();
  if (!count || *count > reader.left() / smallest_field) return {};
  std::vector<Field> fields;
  fields.reserve(static_cast<std::size_t>(*count));
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto name = reader.take_sized();
    const auto value = reader.take_sized();
    if (!name || !value) return {};
    fields.push_back({text_of(*name), text_of(*value)});
  }
  return fields;
}

}  // namespace

std::vector<std::byte> encode(const Record& record) {
  ByteWriter writer(magic.size() + 8 + size_of(record.fields) + 8 + record.payload.size() +
                    digest_size);
  writer.add(magic);
  writer.add_number(format_version);
  writer.add_fields(record.fields);
  writer.add_sized(record.payload);
  writer.add(sha256(writer.bytes()).bytes);
  return std::move(writer).take();
}

Decoded decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto start = reader.take(magic.size());
  if (!start || !std::ranges::equal(*start, std::as_bytes(std::span(magic))))
    return refuse("It does not start as a record does.");
  const auto version = reader.take_number();
  if (version && *version != format_version)
    return refuse(fmt::format("Its format version is {}, and this program reads {}.", *version,
                              format_version));
  if (!version || reader.left() < digest_size) return refuse("It is cut short.");

  const auto content = bytes.first(bytes.size() - digest_size);
  if (!std::ranges::equal(sha256(content).bytes, bytes.last(digest_size)))
    return refuse("Its checksum does not fit its content.");

  // The checksum holds, but anyone can compute one: the lengths are still not trusted.
  ByteReader body(content.subspan(magic.size() + 8));
  auto fields = take_fields(body);
  const auto payload = body.take_sized();
  if (!fields || !payload || body.left() != 0) return refuse("Its lengths do not fit its size.");
  return {Record{std::move(*fields), {payload->begin(), payload->end()}}, {}};
}

}  // namespace jitbag::cache
