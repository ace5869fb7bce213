#pragma once

#include <algorithm>

#include "jitbag/strategy.hpp"

namespace jitbag {

/// 32-bit words of what is loaded for a row beside its vectors, its scale and its weight, with the
/// address that each of those takes.
[[nodiscard]] inline int words_beside_row(const ForwardSpec& spec) {
  const RowScale& scale = spec.row_scale;
  const bool has_scale = is_quantised(spec.table_type) && scale.place != RowScale::Place::nowhere;
  int words = 0;
  if (has_scale) words += scale.type == DataType::float32 && scale.has_bias ? 2 : 1;
  if (spec.weight_type) words += *spec.weight_type == DataType::float64 ? 2 : 1;
  return words == 0 ? 0 : words + 2;
}

/// Rows in flight for which a lane has registers, at most as many as are wanted.
[[nodiscard]] inline int rows_that_fit(const ForwardSpec& spec, const Strategy& strategy,
                                       int wanted) {
  constexpr int register_words = 64;
  const int words_per_row =
      strategy.vectors_per_lane * std::max(1, strategy.vector_bytes / 4) + words_beside_row(spec);
  return std::clamp(register_words / words_per_row, 1, wanted);
}

}  // namespace jitbag
