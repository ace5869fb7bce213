#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "jitbag/kernel.hpp"
#include "jitbag/strategy.hpp"
#include "runtime/forward_grid.hpp"

namespace jitbag {

/// Launches so many blocks, in several launches where one grid cannot have them all. `first_block`,
/// which is 0, is that one of the parameters that tells the kernel where a launch begins.
inline void launch_blocks(const Kernel& kernel, const Strategy& strategy, std::int64_t blocks,
                          std::int64_t& first_block, std::span<void* const> parameters,
                          Stream stream) {
  for (; first_block < blocks; first_block += most_blocks) {
    kernel.launch({.blocks_x = static_cast<unsigned>(std::min(blocks - first_block, most_blocks)),
                   .threads_x = static_cast<unsigned>(strategy.block_threads),
                   .mode = strategy.launch_mode},
                  parameters, stream);
  }
}

}  // namespace jitbag
