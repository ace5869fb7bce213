#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "spec/refuse.hpp"

namespace jitbag {

/// The widest vector that a kernel loads.
inline constexpr std::int64_t widest_alignment = 16;

/// The alignment, cut to the widest there is a use for; `otherwise` where it is 0.
[[nodiscard]] inline std::int64_t alignment_of(std::string_view field, std::int64_t alignment,
                                               std::int64_t otherwise, std::int64_t element,
                                               std::string_view type) {
  if (alignment == 0) alignment = std::max(otherwise, element);
  if (alignment < element || !std::has_single_bit(static_cast<std::uint64_t>(alignment))) {
    refuse("{} is {}; it must be a power of two and at least {}, the size of a {} element.", field,
           alignment, element, type);
  }
  return std::min(alignment, widest_alignment);
}

}  // namespace jitbag
