#pragma once

namespace jitbag::tools {

inline constexpr const char* version = JITBAG_VERSION;

}  // namespace jitbag::tools
