#pragma once

#include "jitbag/backward.hpp"

namespace jitbag {

/// How the lanes of the weights' gradient are laid over the table's rows. Follows from the spec,
/// which is validated: nothing is added up over a bag's ids but divisors, so that lanes over the
/// bag cost nothing, whatever the batch.
[[nodiscard]] Strategy weight_gradient_shape(const BackwardSpec& spec, LaunchMode mode);

}  // namespace jitbag
