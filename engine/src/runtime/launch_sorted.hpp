#pragma once

#include <span>

#include "jitbag/backward.hpp"

struct BadInputReport;

namespace jitbag {

struct SortLayout;

/// Launches the kernels of the sort method on checked arguments. `table` is gradient_table(spec).
void launch_sorted(std::span<const Kernel> kernels, const BackwardSpec& spec,
                   const ForwardSpec& table, const Strategy& shape, const SortLayout& layout,
                   const BackwardArguments& arguments, BadInputReport* report, Stream stream);

}  // namespace jitbag
