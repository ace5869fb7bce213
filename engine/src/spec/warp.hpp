#pragma once

namespace jitbag {

inline constexpr int warp_lanes = 32;

}  // namespace jitbag
