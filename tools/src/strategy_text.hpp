#pragma once

#include <string_view>

#include "jitbag/strategy.hpp"

namespace jitbag::tools {

/// Reads what to_text(Strategy) writes: every field, each once, in any order. Throws UsageError.
[[nodiscard]] Strategy parse_strategy(std::string_view text);

}  // namespace jitbag::tools
