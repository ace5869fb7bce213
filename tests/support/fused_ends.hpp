#pragma once

#include <span>
#include <vector>

#include "jitbag/forward_spec.hpp"

namespace jitbag::test {

/// A number and how far from it a right result may be.
struct Approximate {
  double value = 0;
  double error = 0;
};

/// What an end's expressions see besides x.
struct EndContext {
  std::int64_t bag = 0;
  std::int64_t count = 0;
  int pooling = 0;
  const float* parameters = nullptr;
  double unit = 0;  ///< the relative rounding error of one operation of the kernel
};

/// Ends whose meaning the tests know, in CUDA and in float64.
[[nodiscard]] const std::vector<FusedEnd>& known_ends();

/// Applies a known end (or none) to a pooled vector. Throws std::logic_error for another one.
void apply(const FusedEnd& end, std::span<Approximate> vector, const EndContext& context);

}  // namespace jitbag::test
