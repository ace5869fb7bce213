#pragma once

#include "jitbag/backward.hpp"

struct BadInputReport;

namespace jitbag {

/// Launches the kernel of the scatter method on checked arguments. `table` is gradient_table(spec).
void launch_scatter(const Kernel& kernel, const BackwardSpec& spec, const ForwardSpec& table,
                    const Strategy& shape, const BackwardArguments& arguments,
                    BadInputReport* report, Stream stream);

}  // namespace jitbag
