#pragma once

#include <span>

#include "jitbag/backward.hpp"

struct BadInputReport;

namespace jitbag {

struct MarkLayout;

/// Launches the kernels of the scatter or the merge method on checked arguments. `table` is
/// gradient_table(spec); `layout` is of the sparse gradient's rows, or null.
void launch_scatter(std::span<const Kernel> kernels, const BackwardSpec& spec,
                    const ForwardSpec& table, const Strategy& shape, const MarkLayout* layout,
                    const BackwardArguments& arguments, BadInputReport* report, Stream stream);

}  // namespace jitbag
