#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jitbag/types.hpp"

namespace jitbag::test {

/// Fills with NaNs of whatever float type.
void poison(std::span<std::byte> bytes);

/// Whether it was filled so and not written to since.
[[nodiscard]] bool is_poison(std::span<const std::byte> bytes);

/// An array somewhere within a buffer, poison around it.
struct PlacedArray {
  std::vector<std::byte> buffer;
  std::size_t begin = 0;  ///< bytes from the buffer's begin to the array's
  std::size_t bytes = 0;  ///< of the array

  /// All of it poison.
  PlacedArray() = default;
  PlacedArray(std::size_t array_bytes, std::size_t misalignment, bool poison_after = true);

  /// Null where there is no buffer.
  [[nodiscard]] std::byte* data();
  [[nodiscard]] const std::byte* data() const;
  [[nodiscard]] std::span<std::byte> array() { return {data(), bytes}; }
  [[nodiscard]] bool surroundings_are_poison() const;

  bool operator==(const PlacedArray&) const = default;
};

/// Integers with very large ones around them.
[[nodiscard]] PlacedArray place_integers(const std::vector<std::int64_t>& values, IntegerType type,
                                         std::int64_t misaligned_elements, bool poison_after);

/// Floating-point numbers with NaN around them.
[[nodiscard]] PlacedArray place_elements(const std::vector<double>& values, DataType type,
                                         std::int64_t misaligned_elements, bool poison_after);

/// Far outside of any table and of any ids.
[[nodiscard]] std::int64_t far_outside(IntegerType type);

}  // namespace jitbag::test
