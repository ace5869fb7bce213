#pragma once

#include "jitbag/kernel.hpp"

namespace jitbag::device {

/// Loads the artifact and its entry, in the calling thread's context. Throws Error(device_failed).
[[nodiscard]] Kernel load(Artifact artifact);

}  // namespace jitbag::device
