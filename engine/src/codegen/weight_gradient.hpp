#pragma once

#include "jitbag/specialisation.hpp"

namespace jitbag {

/// The kernel of the gradient of the weights, which `spec`, validated, asks for. What is made of
/// the table's gradient plays no part.
[[nodiscard]] Specialisation specialise_weight_gradient(const BackwardSpec& spec, LaunchMode mode,
                                                        const Target& target);

}  // namespace jitbag
