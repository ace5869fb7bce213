#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backward_case.hpp"
#include "forward_matrix.hpp"
#include "jitbag/backward.hpp"
#include "placed_array.hpp"

namespace jitbag::test {

/// A kernel of the gradient of the weights to test.
struct WeightGradientMatrixKernel {
  MatrixKernel forward;  ///< of which it is the gradient
  BackwardSpec spec;     ///< validated
};

/// Some kernels of the forward matrix, each given weights and a pooling that has a use for them.
/// The same seed gives the same kernels, in the same order.
[[nodiscard]] std::vector<WeightGradientMatrixKernel> weight_gradient_matrix(std::uint64_t seed);

/// The shape's strategy, with lanes in a power of two within a warp; the built-in rule where the
/// shape cannot work all the same.
[[nodiscard]] Strategy strategy_for(const WeightGradientMatrixKernel& kernel, const Target& target);

[[nodiscard]] std::string describe(const WeightGradientMatrixKernel& kernel, const Target& target);

/// The launches a kernel is tested with.
[[nodiscard]] std::vector<ForwardCaseOptions> launches_of(const WeightGradientMatrixKernel& kernel,
                                                          std::int64_t largest_batch);

/// The inputs of a gradient of the weights. Surroundings are NaN.
struct WeightGradientCase {
  WeightGradientCase(const BackwardSpec& spec, const ForwardCaseOptions& options);

  BackwardSpec spec;      ///< validated
  BackwardCase of_table;  ///< a gradient of the table with the same inputs
  PlacedArray before;     ///< room for the gradient, poison

  /// Arguments in host memory, to write to that array.
  [[nodiscard]] BackwardArguments host_arguments(PlacedArray& weight_gradient) const;

  /// What is wrong with the array after a launch, in one sentence, or nothing.
  [[nodiscard]] std::string check(const PlacedArray& after) const;
};

}  // namespace jitbag::test
