#pragma once

#include "jitbag/transpose.hpp"

namespace jitbag {

/// The bags of a spec as forward has them, of a table without columns.
[[nodiscard]] ForwardSpec bags_of(const TransposeSpec& spec);

/// What sorts and numbers the rows of a validated spec: its sparse gradient, of a table without
/// columns. Weights have no part in that.
[[nodiscard]] BackwardSpec sorting_of(const TransposeSpec& spec);

/// The same for the arguments.
[[nodiscard]] BackwardArguments sorting_of(const TransposeArguments& arguments);

}  // namespace jitbag
