#pragma once

#include "jitbag/backward.hpp"

struct BadInputReport;

namespace jitbag {

/// Launches the kernel of the scatter method on checked arguments.
void launch_scatter(const Kernel& kernel, const BackwardSpec& spec, const Strategy& shape,
                    const BackwardArguments& arguments, BadInputReport* report, Stream stream);

}  // namespace jitbag
