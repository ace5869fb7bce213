#pragma once

#include <cstdint>

namespace jitbag {

/// What every stride is below, in elements.
inline constexpr std::int64_t stride_limit = std::int64_t{1} << 31;

}  // namespace jitbag
