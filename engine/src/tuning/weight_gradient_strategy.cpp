#include "tuning/weight_gradient_strategy.hpp"

#include <algorithm>
#include <bit>

#include "spec/refuse.hpp"

namespace jitbag {
namespace {

constexpr int warp_lanes = 32;

void check_asked_for(const BackwardSpec& spec) {
  if (!spec.weight_gradient_type) {
    refuse("\"{}\" asks for no gradient of the weights; set weight_gradient_type.", to_text(spec));
  }
}

}  // namespace

Strategy weight_gradient_strategy(const BackwardSpec& raw, const Target& target,
                                  std::optional<std::int64_t> expected_batch) {
  const BackwardSpec spec = validated(raw);
  check_asked_for(spec);
  Strategy strategy = default_strategy(spec.forward, target, expected_batch);
  // Lanes meet in shuffles alone.
  strategy.lanes_per_row =
      static_cast<int>(std::bit_ceil(static_cast<unsigned>(strategy.lanes_per_row)));
  strategy.bag_lanes = std::min(strategy.bag_lanes, warp_lanes / strategy.lanes_per_row);
  return strategy;
}

void validate_weight_gradient(const Strategy& strategy, const BackwardSpec& raw,
                              const Target& target) {
  const BackwardSpec spec = validated(raw);
  check_asked_for(spec);
  validate(strategy, spec.forward, target);
  if (!std::has_single_bit(static_cast<unsigned>(strategy.lanes_per_row))) {
    refuse(
        "The strategy's lanes_per_row is {}; for the gradient of the weights it must be a power "
        "of two.",
        strategy.lanes_per_row);
  }
  if (strategy.lanes_per_row * strategy.bag_lanes > warp_lanes) {
    refuse(
        "The strategy has {} lanes over the bag of {} each; for the gradient of the weights they "
        "must fit a warp, 32 in all.",
        strategy.bag_lanes, strategy.lanes_per_row);
  }
}

}  // namespace jitbag
