#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jitbag/cache/key.hpp"

namespace jitbag::cache {

/// Appends to a list of bytes: numbers as 64-bit little-endian, texts after their length.
class ByteWriter {
 public:
  explicit ByteWriter(std::size_t expected_size) { bytes_.reserve(expected_size); }

  void add(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }

  void add_number(std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<std::byte>((number >> shift) & 0xffu));
  }
  void add_sized(std::span<const std::byte> bytes) {
    add_number(bytes.size());
    add(bytes);
  }
  /// The fields as they stand both in a record and in what its key is the SHA-256 of.
  void add_fields(std::span<const Field> fields) {
    add_number(fields.size());
    for (const Field& field : fields) {
      add_sized(std::as_bytes(std::span(field.name)));
      add_sized(std::as_bytes(std::span(field.value)));
    }
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// How many bytes add_fields writes.
[[nodiscard]] inline std::size_t size_of(std::span<const Field> fields) {
  std::size_t size = 8;
  for (const Field& field : fields) size += 16 + field.name.size() + field.value.size();
  return size;
}

[[nodiscard]] inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads what a ByteWriter wrote, from bytes that nobody vouches for: every length is compared with
/// what is left before it is used.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  std::optional<std::span<const std::byte>> take(std::uint64_t size) {
    if (size > rest_.size()) return {};
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::optional<std::uint64_t> take_number() {
    const auto bytes = take(8);
    if (!bytes) return {};
    std::uint64_t number = 0;
    for (unsigned i = 0; i < 8; ++i) number |= std::to_integer<std::uint64_t>((*bytes)[i]) << 8 * i;
    return number;
  }
  std::optional<std::span<const std::byte>> take_sized() {
    const auto size = take_number();
    if (!size) return {};
    return take(*size);
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace jitbag::cache
