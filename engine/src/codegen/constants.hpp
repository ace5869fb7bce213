#pragma once

#include <string>

#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"

namespace jitbag::codegen {

/// The types that constants may name, declared above them.
[[nodiscard]] std::string declarations();

/// The constant of a whole launch; the others are those of one spec in it.
[[nodiscard]] std::string launch_mode(LaunchMode mode);

/// The constants that say where the parts of a table's rows are.
[[nodiscard]] std::string row_layout(const ForwardSpec& validated_spec);

/// The constants of a validated spec, but for its end, and a strategy: all that the templates leave
/// open. Sums are float32, or float64 for a float64 table and where `is_wide` asks for it.
[[nodiscard]] std::string constants(const ForwardSpec& spec, const Strategy& strategy,
                                    bool is_wide = false);

/// What forward does at its end.
[[nodiscard]] std::string end_constants(const FusedEnd& end);

}  // namespace jitbag::codegen
