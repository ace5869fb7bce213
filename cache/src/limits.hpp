#pragma once

#include <cstddef>

namespace jitbag::cache {

/// What encode() gives has at most so many bytes, wherever it is kept.
inline constexpr std::size_t largest_record = std::size_t{256} << 20;

}  // namespace jitbag::cache
