#include "tuning/weight_gradient_shape.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "spec/warp.hpp"

namespace jitbag {
namespace {

/// As many as a warp has room for, each with four rows or more, and all with as many.
int lanes_over_bag(const ForwardSpec& spec, int lanes_per_row) {
  const auto* fixed = std::get_if<FixedBags>(&spec.bags);
  if (fixed == nullptr || fixed->size < 4) return 1;
  const std::int64_t most = std::min<std::int64_t>(warp_lanes / lanes_per_row, fixed->size / 4);
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most)));
  return static_cast<int>(std::gcd(power, fixed->size));
}

}  // namespace

Strategy weight_gradient_shape(const BackwardSpec& spec, LaunchMode mode) {
  // Of the target the rule asks the launch mode alone.
  Strategy shape = default_strategy(spec.forward, Target{});
  shape.launch_mode = mode;
  // Lanes meet in shuffles alone.
  shape.lanes_per_row = static_cast<int>(std::bit_ceil(static_cast<unsigned>(shape.lanes_per_row)));
  shape.bag_lanes = lanes_over_bag(spec.forward, shape.lanes_per_row);
  return shape;
}

}  // namespace jitbag
