#pragma once

#include <array>
#include <cstdint>

namespace jitbag::host {

/// Counted rows of a bag, some at a time.
template <class Number>
struct RowBlock {
  static constexpr int most = 256;

  int count = 0;
  bool weighted = false;  ///< otherwise the weights are not set, and all are 1
  std::array<std::int64_t, most> rows;
  std::array<Number, most> weights;
};

}  // namespace jitbag::host
