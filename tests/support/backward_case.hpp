#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forward_case.hpp"
#include "forward_matrix.hpp"
#include "jitbag/backward.hpp"
#include "jitbag/host.hpp"
#include "placed_array.hpp"

namespace jitbag::test {

/// Kernels of backward to test.
struct BackwardMatrixKernel {
  MatrixKernel forward;  ///< of which they are the gradient; that of `spec`
  BackwardSpec spec;     ///< validated
  BackwardMethod method = BackwardMethod::scatter;
};

/// Some kernels of the forward matrix, with gradients of every kind, those that have weights with
/// the gradient of these as well, and some with that alone. The same seed gives the same kernels,
/// in the same order.
[[nodiscard]] std::vector<BackwardMatrixKernel> backward_matrix(std::uint64_t seed);

/// The shape's strategy; the built-in rule where the shape cannot work for the gradient.
[[nodiscard]] BackwardStrategy strategy_for(const BackwardMatrixKernel& kernel,
                                            const Target& target);

[[nodiscard]] std::string describe(const BackwardMatrixKernel& kernel, const Target& target);

/// The launches a kernel is tested with.
[[nodiscard]] std::vector<ForwardCaseOptions> launches_of(const BackwardMatrixKernel& kernel,
                                                          std::int64_t largest_batch = 1023);

/// All that a launch may write to. Gaps and surroundings are NaN.
struct GradientArrays {
  PlacedArray table;  ///< a dense gradient, the rows of a sparse one, or the table that is stepped
  PlacedArray rows, first_moment, second_moment, weights;
  SparseCount count{-1, -1};
};

/// The inputs of a gradient, and what it is added to or stepped, as it is before.
struct BackwardCase {
  BackwardCase(const BackwardSpec& spec, const ForwardCaseOptions& options);
  BackwardCase(const BackwardSpec& spec, ForwardCase inputs, std::uint64_t seed);

  BackwardSpec spec;  ///< validated
  ForwardCase inputs;
  PlacedArray output_gradient, winners;
  GradientArrays before;
  std::int64_t capacity = 0;
  OptimizerParameters parameters;

  /// Arguments in host memory.
  [[nodiscard]] BackwardArguments host_arguments(GradientArrays& arrays) const;

  /// What is wrong with the arrays after a launch, in one sentence, or nothing. Where offsets
  /// decrease so that an id is in two bags, sorting gives it to the last of them, where everything
  /// else counts it in both: then the gradient of the table is not looked at.
  [[nodiscard]] std::string check(const GradientArrays& after, BackwardMethod method) const;
};

}  // namespace jitbag::test
