#pragma once

#include <span>

#include "jitbag/backward.hpp"

struct BadInputReport;

namespace jitbag {

/// Bytes of workspace that scatter and merge need: for a sparse gradient alone.
[[nodiscard]] std::int64_t scatter_workspace_bytes(const BackwardSpec& spec,
                                                   const BackwardArguments& arguments);

/// Launches the kernels of the scatter or the merge method on checked arguments. `table` is
/// gradient_table(spec).
void launch_scatter(std::span<const Kernel> kernels, const BackwardSpec& spec,
                    const ForwardSpec& table, const Strategy& shape,
                    const BackwardArguments& arguments, BadInputReport* report, Stream stream);

}  // namespace jitbag
