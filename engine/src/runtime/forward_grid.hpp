#pragma once

#include <cstdint>

#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"

namespace jitbag {

[[nodiscard]] inline std::int64_t divided_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

/// Blocks that a batch takes: for each block's worth of bags, one for every tile of a row. May be
/// more than one launch can have.
[[nodiscard]] inline std::int64_t blocks_for(const ForwardSpec& spec, const Strategy& strategy,
                                             std::int64_t batch) {
  const std::int64_t vectors = spec.dim * size_of(spec.table_type) / strategy.vector_bytes;
  const std::int64_t tiles =
      divided_up(vectors, std::int64_t{strategy.lanes_per_row} * strategy.vectors_per_lane);
  const std::int64_t bags_per_block =
      strategy.block_threads / (strategy.lanes_per_row * strategy.bag_lanes);
  return divided_up(batch, bags_per_block) * tiles;
}

}  // namespace jitbag
