#pragma once

#include <string>

#include "gpu.hpp"
#include "support/backward_case.hpp"

namespace jitbag::test {

/// Launches, waits, and compares with the oracle. Returns nothing, or one sentence.
[[nodiscard]] std::string launch_and_check(const BackwardKernel& kernel, const BackwardCase& given,
                                           const device::OwnedStream& stream);

}  // namespace jitbag::test
