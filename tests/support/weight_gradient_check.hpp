#pragma once

#include <string>

#include "jitbag/backward.hpp"
#include "placed_array.hpp"

namespace jitbag::test {

/// Poolings that make use of weights.
[[nodiscard]] std::ptrdiff_t poolings_with_weights(const ForwardSpec& spec);

/// What is wrong with a gradient of the weights after a launch with these arguments, in host
/// memory, into an array of poison: one sentence, or nothing. `spec` is validated.
[[nodiscard]] std::string check_weight_gradient(const BackwardSpec& spec,
                                                const BackwardArguments& arguments,
                                                const PlacedArray& after);

}  // namespace jitbag::test
