#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forward_case.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"
#include "jitbag/target.hpp"

namespace jitbag::test {

/// A corner of the strategy space that exists for every spec and target.
enum class StrategyShape {
  rule,                ///< the built-in rule
  rule_for_one_bag,    ///< the built-in rule, told that the batch is 1
  candidate,           ///< one of candidate_strategies
  one_lane,            ///< a lane with several vectors, many tiles
  three_lanes,         ///< groups that fill neither warp nor block
  seven_lanes,         ///< the same, with several vectors a lane
  narrow,              ///< the narrowest vector, a whole warp
  two_bag_lanes,       ///< many groups in a warp
  eight_bag_lanes,     ///< the same, with several vectors a lane
  warp_over_bag,       ///< 32 lanes over the bag
  two_warps_a_group,   ///< sums meet in shared memory
  block_a_group,       ///< one group of 256 lanes
  largest_group,       ///< one group of 1024 lanes
  two_bags_a_group,    ///< one after the other, or gathered together
  five_bags_a_group,   ///< the same, in groups that fill neither warp nor block
  bags_and_bag_lanes,  ///< three bags a group, two lanes over each of them
};

/// A kernel to test.
struct MatrixKernel {
  ForwardSpec spec;  ///< validated
  StrategyShape shape = StrategyShape::rule;
  std::uint64_t seed = 0;
};

/// Every pair of dim and bag layout, and every pair of values of any two of: dim, bag layout, table
/// (type and layout of rows), poolings, weight type, output type, id type, padding id, policy for
/// bad ids, alignment of the table and that of ids and output, row stride, output stride,
/// addressing, place of the counts, end, shape of strategy. Pairs that no spec can have are left
/// out. The same seed gives the same kernels, in the same order.
[[nodiscard]] std::vector<MatrixKernel> forward_matrix(std::uint64_t seed);

/// Elements by which an array begins off a multiple of 16 bytes, so that its address has the
/// alignment and no better one.
[[nodiscard]] std::int64_t misalignment(std::int64_t alignment, std::int64_t element_bytes);

/// The shape's strategy; the built-in rule where the shape cannot work for the spec.
[[nodiscard]] Strategy strategy_for(const MatrixKernel& kernel, const Target& target);

/// The launches a kernel is tested with: batches 0, 1, 3 and 1023, the last cut to `largest_batch`.
[[nodiscard]] std::vector<ForwardCaseOptions> launches_of(const MatrixKernel& kernel,
                                                          std::int64_t largest_batch = 1023);

/// Ids of a bag, at most.
[[nodiscard]] std::int64_t longest_bag(const MatrixKernel& kernel);

/// For messages.
[[nodiscard]] std::string describe(const MatrixKernel& kernel, const Target& target);

}  // namespace jitbag::test
