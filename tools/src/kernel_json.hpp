#pragma once

#include <string>
#include <vector>

#include "json/value.hpp"
#include "kernel_axes.hpp"

namespace jitbag::tools {

/// The values that JSON gives an axis, as they are written on the command line. Throws UsageError.
[[nodiscard]] std::vector<std::string> values_of(const JsonValue& value, const KernelAxis& axis);

}  // namespace jitbag::tools
