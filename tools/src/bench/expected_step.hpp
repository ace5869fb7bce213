#pragma once

#include <vector>

#include "jitbag/host.hpp"
#include "jitbag/optimizer.hpp"

namespace jitbag::tools::bench {

/// A row after the first step by its gradient with `step_parameters`, from first moments of 0 and
/// second ones of `second_moment_byte`: the formulas of jitbag/optimizer.hpp in float64. A
/// magnitude is that of the step.
[[nodiscard]] std::vector<host::OracleGradients::Element> expected_step(
    Optimizer optimizer, const std::vector<host::OracleGradients::Element>& row,
    const std::vector<host::OracleGradients::Element>& gradient);

}  // namespace jitbag::tools::bench
