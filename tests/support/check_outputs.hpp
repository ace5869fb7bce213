#pragma once

#include <string>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag::test {

/// Compares the outputs of a launch (host memory, poison before it) with the oracle, element by
/// element: elements that the operator leaves as they are, and the gaps between rows, must still be
/// poison. The tolerance follows from the arithmetic: sums of so many products in any order in
/// float32 (float64 for a float64 table), dequantised elements, one division, an end, and the
/// rounding to the output's type. The spec's end must be one that the tests know. Returns nothing,
/// or one sentence about the first wrong element.
[[nodiscard]] std::string check_outputs(const ForwardSpec& validated_spec,
                                        const ForwardArguments& arguments);

}  // namespace jitbag::test
