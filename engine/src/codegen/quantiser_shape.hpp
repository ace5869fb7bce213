#pragma once

#include <cstdint>

#include "jitbag/forward_spec.hpp"

namespace jitbag {

/// How a quantiser's block is shared among rows.
struct QuantiserShape {
  int block_threads = 256;
  int lanes_per_row = 32;  ///< a power of two, at most a warp

  [[nodiscard]] std::int64_t rows_per_block() const { return block_threads / lanes_per_row; }
};

/// A lane has four bytes of codes or more: with fewer the lanes of short rows would do little but
/// meet.
[[nodiscard]] QuantiserShape quantiser_shape(const ForwardSpec& spec);

}  // namespace jitbag
