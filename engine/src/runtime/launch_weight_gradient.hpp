#pragma once

#include "jitbag/backward.hpp"

struct BadInputReport;

namespace jitbag {

/// Launches the kernel of the gradient of the weights on checked arguments. `shape` is its
/// weight_gradient_shape().
void launch_weight_gradient(const Kernel& kernel, const Strategy& shape,
                            const BackwardArguments& arguments, BadInputReport* report,
                            Stream stream);

}  // namespace jitbag
