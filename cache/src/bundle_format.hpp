#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "jitbag/cache/key.hpp"
#include "jitbag/cache/producer.hpp"
#include "jitbag/cache/signature.hpp"

/// The parts of a bundle as bytes (docs/cache.md says the same at length):
///
///   header              what it is, and the version
///   stored records      one after the other, in the order of their keys
///   producers
///   index               an entry for each record, in the order of their keys
///   footer              where the parts lie, their SHA-256, the signature
namespace jitbag::cache::bundle_format {

inline constexpr std::size_t header_size = 16;
inline constexpr std::size_t entry_size = 96;
inline constexpr std::size_t footer_size = 168;
/// Of the producers and of the index, each: over two million records.
inline constexpr std::uint64_t largest_part = std::uint64_t{256} << 20;
/// No kernel is packed so well: who claims more wants to fill memory.
inline constexpr std::uint64_t largest_ratio = 1000;

[[nodiscard]] std::vector<std::byte> encode_header();
/// What is wrong with a header, as a sentence about "it"; empty when it is as it should be.
[[nodiscard]] std::string problem_of_header(std::span<const std::byte> bytes);

enum class Codec : std::uint64_t { plain = 0, zstd = 1 };

/// Where a record lies and what it must be. As read, it says whatever someone wrote there.
struct IndexEntry {
  Digest key;
  std::uint64_t offset = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t record_bytes = 0;
  Codec codec = Codec::plain;
  Digest stored_digest;  ///< of the bytes as they lie in the file
};

void add_entry(ByteWriter& writer, const IndexEntry& entry);
[[nodiscard]] IndexEntry entry_from(std::span<const std::byte, entry_size> bytes);

[[nodiscard]] std::vector<std::byte> encode_producers(std::span<const Producer> producers);
/// Nothing when they are malformed, or have an id that is none.
[[nodiscard]] std::optional<std::vector<Producer>> decode_producers(
    std::span<const std::byte> bytes);

struct Footer {
  std::uint64_t producers_offset = 0;  ///< the records end there
  std::uint64_t producers_bytes = 0;   ///< the index begins behind them
  std::uint64_t records = 0;
  Digest producers_digest;
  Digest index_digest;
  std::optional<Signature> signature;

  [[nodiscard]] std::uint64_t index_offset() const { return producers_offset + producers_bytes; }
  [[nodiscard]] std::uint64_t index_bytes() const { return records * entry_size; }
};

/// What a bundle's signature signs: the footer but for the signature. Through the digests in it,
/// every byte of the bundle.
[[nodiscard]] std::vector<std::byte> signed_part(const Footer& footer);
[[nodiscard]] std::vector<std::byte> encode_footer(const Footer& footer);
/// Nothing when it does not end as a bundle does, or speaks of parts that do not fill a file of
/// this size.
[[nodiscard]] std::optional<Footer> decode_footer(std::span<const std::byte> bytes,
                                                  std::uint64_t file_bytes);

}  // namespace jitbag::cache::bundle_format
