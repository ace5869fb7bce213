#include <algorithm>

#include "jitbag/backward.hpp"
#include "spec/gradient_table.hpp"
#include "spec/refuse.hpp"

namespace jitbag {

Strategy default_strategy(const BackwardSpec& raw, const Target& target,
                          std::optional<std::int64_t> expected_batch) {
  const BackwardSpec spec = validated(raw);
  Strategy strategy = default_strategy(gradient_table(spec), target, expected_batch);
  // Few registers: larger blocks start sooner (bags of one id: 1.2 us in place of 1.3, H200).
  strategy.block_threads = std::max(strategy.block_threads, 256);
  // The lanes over a bag meet in shuffles alone.
  strategy.bag_lanes = std::min(strategy.bag_lanes, std::max(1, 32 / strategy.lanes_per_row));
  return strategy;
}

void validate(const Strategy& strategy, const BackwardSpec& raw, const Target& target) {
  const BackwardSpec spec = validated(raw);
  validate(strategy, gradient_table(spec), target);
  const int group = strategy.lanes_per_row * strategy.bag_lanes;
  if (strategy.bag_lanes > 1 && group > 32) {
    refuse(
        "The strategy has {} lanes over the bag of {} each; in backward they must fit a warp, "
        "32 in all.",
        strategy.bag_lanes, strategy.lanes_per_row);
  }
}

}  // namespace jitbag
