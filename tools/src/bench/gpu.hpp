#pragma once

#include <optional>
#include <string>

#include "jitbag/device.hpp"

namespace jitbag::tools::bench {

/// The first GPU, or nothing where `device` is "cpu", or "auto" on a machine without one. Throws
/// Error when "cuda" was asked for and is not there.
[[nodiscard]] std::optional<device::Info> find_gpu(const std::string& device);

/// Bytes read and written a second by a copy within the memory of the current device, in billions:
/// what no kernel that reads as much as it writes passes.
[[nodiscard]] double measure_ceiling_gb_per_s(const device::Info& gpu);

}  // namespace jitbag::tools::bench
