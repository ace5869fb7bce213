#pragma once

#include <span>

namespace jitbag::tools {

/// Of one value or more; of none they throw Error(invalid_argument).
[[nodiscard]] double mean(std::span<const double> values);
[[nodiscard]] double median(std::span<const double> values);

/// The value below which `percent` (0 to 100) of the values lie, interpolated linearly between the
/// two that are nearest, as NumPy does by default.
[[nodiscard]] double percentile(std::span<const double> values, double percent);

}  // namespace jitbag::tools
