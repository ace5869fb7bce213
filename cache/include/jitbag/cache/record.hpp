#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jitbag/cache/key.hpp"

namespace jitbag::cache {

/// One artifact with all that went into its key, as text. The key is not stored apart from the
/// fields: it is computed from them, so a record under a wrong name is seen to be wrong.
struct Record {
  std::vector<Field> fields;
  std::vector<std::byte> payload;
  bool operator==(const Record&) const = default;
  [[nodiscard]] Digest key() const { return key_of(fields); }
};

/// The bytes of a record: the same record gives the same bytes, always. docs/cache.md has the
/// format.
[[nodiscard]] std::vector<std::byte> encode(const Record& record);

/// What was read, or in one sentence why it is not a whole record.
struct Decoded {
  std::optional<Record> record;
  std::string problem;
};

/// Reads bytes from anywhere: never trusts a length, never throws for damage.
[[nodiscard]] Decoded decode(std::span<const std::byte> bytes);

}  // namespace jitbag::cache
