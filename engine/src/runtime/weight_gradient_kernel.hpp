#pragma once

#include "jitbag/backward.hpp"

namespace jitbag {

/// The kernel of the gradient of the weights.
class WeightGradientKernel {
 public:
  /// `kernel` is that of specialise_weight_gradient().
  WeightGradientKernel(Kernel kernel, const BackwardSpec& spec, const Strategy& strategy,
                       Reports& reports);

  [[nodiscard]] const BackwardSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const Strategy& strategy() const noexcept { return strategy_; }
  [[nodiscard]] const Artifact& artifact() const noexcept { return kernel_.artifact(); }

  /// As ForwardKernel::launch.
  void launch(const BackwardArguments& arguments, Stream stream) const;

 private:
  Kernel kernel_;
  BackwardSpec spec_;
  Strategy strategy_;
  Reports* reports_;
};

}  // namespace jitbag
