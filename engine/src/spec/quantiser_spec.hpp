#pragma once

#include "jitbag/forward_spec.hpp"

namespace jitbag {

/// Of a spec what decides how a table is quantised, the rest at its defaults, validated. Throws
/// Error(invalid_argument), also where the table has no codes.
[[nodiscard]] ForwardSpec quantiser_spec(const ForwardSpec& spec);

}  // namespace jitbag
