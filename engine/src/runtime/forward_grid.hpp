#pragma once

#include <cstdint>

#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"

namespace jitbag {

/// Blocks that one launch may have in x on every architecture.
inline constexpr std::int64_t most_blocks = 0x7fffffff;

[[nodiscard]] inline std::int64_t divided_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

/// Tiles of columns that a row is cut into.
[[nodiscard]] inline std::int64_t tiles_of(const ForwardSpec& spec, const Strategy& strategy) {
  const std::int64_t vectors = row_bytes(spec) / strategy.vector_bytes;
  return divided_up(vectors, std::int64_t{strategy.lanes_per_row} * strategy.vectors_per_lane);
}

/// Rows of the output that a block computes a tile of.
[[nodiscard]] inline std::int64_t rows_per_block(const Strategy& strategy) {
  return std::int64_t{strategy.block_threads / (strategy.lanes_per_row * strategy.bag_lanes)} *
         strategy.bags_per_group;
}

/// Blocks that so many rows of the output take: for each block's worth of them, one for every tile.
/// May be more than one launch can have.
[[nodiscard]] inline std::int64_t blocks_for(const ForwardSpec& spec, const Strategy& strategy,
                                             std::int64_t output_rows) {
  return divided_up(output_rows, rows_per_block(strategy)) * tiles_of(spec, strategy);
}

}  // namespace jitbag
