#pragma once

#include "jitbag/device.hpp"
#include "jitbag/engine.hpp"

namespace jitbag::tools::bench {

/// The kernel that is measured.
[[nodiscard]] KernelTemplate gathering_kernel(int rows_in_flight);

/// Billions of bytes a second at which the current device reads random rows of 256 bytes from a
/// table far larger than its L2 cache, and does nothing else: a gather cannot pass it.
[[nodiscard]] double measure_gather_gb_per_s(Engine& engine, const device::Info& gpu);

}  // namespace jitbag::tools::bench
