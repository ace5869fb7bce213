#pragma once

#include <optional>
#include <string>

#include "bad_input_report.cuh"
#include "jitbag/kernel.hpp"
#include "spec/arguments.hpp"

namespace jitbag::test {

/// Nothing, or one sentence about a report that is not that of this input (or, without one, is not
/// empty).
[[nodiscard]] std::string check_report(const std::optional<BadInput>& bad,
                                       const BadInputReport& report);

/// The same for a launch of one table.
[[nodiscard]] std::string check_report(const ForwardSpec& validated_spec,
                                       const ForwardArguments& arguments,
                                       const BadInputReport& report);

}  // namespace jitbag::test
