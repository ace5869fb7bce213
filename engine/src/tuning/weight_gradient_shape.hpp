#pragma once

#include "jitbag/backward.hpp"

namespace jitbag {

/// How the lanes of the weights' gradient are laid over the table's rows. A rule alone: a bag's
/// ids have nothing to be added up over but divisors, so that lanes over the bag cost nothing, and
/// no batch has to be known. `spec` is validated.
[[nodiscard]] Strategy weight_gradient_shape(const BackwardSpec& spec, LaunchMode mode);

}  // namespace jitbag
