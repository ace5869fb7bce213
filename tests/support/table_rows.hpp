#pragma once

#include <cstddef>
#include <cstdint>

#include "jitbag/forward_spec.hpp"
#include "random.hpp"

namespace jitbag::test {

/// Bytes that a row takes without a gap after it.
[[nodiscard]] std::int64_t packed_row_bytes(const ForwardSpec& spec);

/// Bytes of a row's scale and bias; 0 where the spec has none.
[[nodiscard]] std::int64_t scale_bytes(const ForwardSpec& spec);

/// Writes a row of numbers between about -4 and 4 (codes without a scale: any integer), of which
/// the share `special` is infinite or NaN where the type has that. `scale` is where the row's scale
/// is, if it stands apart.
void write_random_row(const ForwardSpec& spec, std::byte* row, std::byte* scale, double special,
                      Random& random);

/// A table of any type in host memory, read one element at a time.
class TableRows {
 public:
  TableRows(const ForwardSpec& validated_spec, const void* table, const void* scales);

  /// An element; of a quantised table scale * code + bias, in float64.
  [[nodiscard]] double value(std::int64_t row, std::int64_t column) const;

  /// What the rounding errors of a quantised row's elements follow from: the largest |scale * code|
  /// + |bias| that it could have. 0 for elements that are exact.
  [[nodiscard]] double largest_term(std::int64_t row) const;

 private:
  struct Scale {
    double scale = 1, bias = 0;
  };
  [[nodiscard]] Scale scale_of(std::int64_t row) const;
  [[nodiscard]] const std::byte* row_at(std::int64_t row) const;

  ForwardSpec spec_;
  const std::byte* table_;
  const std::byte* scales_;
};

}  // namespace jitbag::test
