#pragma once

#include <algorithm>

#include "jitbag/strategy.hpp"

namespace jitbag {

/// Rows in flight for which a lane has registers, at most as many as are wanted.
[[nodiscard]] inline int rows_that_fit(const Strategy& strategy, int wanted) {
  constexpr int register_words = 64;
  const int words_per_row = strategy.vectors_per_lane * std::max(1, strategy.vector_bytes / 4);
  return std::clamp(register_words / words_per_row, 1, wanted);
}

}  // namespace jitbag
