#pragma once

#include "jitbag/backward.hpp"

namespace jitbag {

/// A validated spec's dense gradient as a table that forward would read: what a kernel which adds
/// to its rows addresses. Throws Error(invalid_argument) for what there is no kernel for.
[[nodiscard]] ForwardSpec gradient_table(const BackwardSpec& spec);

}  // namespace jitbag
