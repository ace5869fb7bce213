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

/// A kernel of backward to test.
struct BackwardMatrixKernel {
  MatrixKernel forward;  ///< of which it is the gradient
  BackwardSpec spec;     ///< validated
};

/// Some kernels of the forward matrix, and kernels that add their dense gradients. The same seed
/// gives the same kernels, in the same order.
[[nodiscard]] std::vector<BackwardMatrixKernel> backward_matrix(std::uint64_t seed);

/// The shape's strategy; the built-in rule where the shape cannot work for the gradient.
[[nodiscard]] Strategy strategy_for(const BackwardMatrixKernel& kernel, const Target& target);

[[nodiscard]] std::string describe(const BackwardMatrixKernel& kernel, const Target& target);

/// A dense gradient to add to, with all that it follows from. Gaps and surroundings are NaN.
struct BackwardCase {
  BackwardCase(const BackwardSpec& spec, const ForwardCaseOptions& options);

  BackwardSpec spec;  ///< validated
  ForwardCase inputs;
  PlacedArray output_gradient, winners;
  PlacedArray gradient;  ///< as it is before

  /// Arguments in host memory, with nothing to write to.
  [[nodiscard]] BackwardArguments host_arguments() const;

  /// What is wrong with a gradient after a launch, in one sentence, or nothing.
  [[nodiscard]] std::string check(const PlacedArray& after) const;
};

}  // namespace jitbag::test
