#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitbag::cache {

/// One thing that decides an artifact, by name: ("source", the text), ("target", "sm_90").
struct Field {
  std::string name;
  std::string value;
  bool operator==(const Field&) const = default;
};

/// A SHA-256.
struct Digest {
  std::array<std::byte, 32> bytes{};
  bool operator==(const Digest&) const = default;
  [[nodiscard]] std::string hex() const;  ///< 64 characters
  [[nodiscard]] static std::optional<Digest> from_hex(std::string_view text);
};

[[nodiscard]] Digest sha256(std::span<const std::byte> bytes);

/// The key of what the fields decide: a SHA-256 over their canonical form, in which every name and
/// value is preceded by its length, so that no two lists of fields read alike. Order matters.
[[nodiscard]] Digest key_of(std::span<const Field> fields);

}  // namespace jitbag::cache
