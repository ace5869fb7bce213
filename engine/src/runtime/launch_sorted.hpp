#pragma once

#include <span>

#include "jitbag/backward.hpp"

struct BadInputReport;

namespace jitbag {

/// Launches the kernels of the sort method on checked arguments.
void launch_sorted(std::span<const Kernel> kernels, const BackwardSpec& spec, const Strategy& shape,
                   const BackwardArguments& arguments, BadInputReport* report, Stream stream);

}  // namespace jitbag
