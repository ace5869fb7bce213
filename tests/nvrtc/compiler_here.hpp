#pragma once

#include <algorithm>

#include "catch.hpp"
#include "jitbag/compiler.hpp"

namespace jitbag::test {

/// Whether NVRTC is on this machine; says so where it is not.
inline bool compiler_is_here() {
  if (compiler::find()) return true;
  WARN("skipped: NVRTC was not found; `jitbag doctor` says where it is looked for");
  return false;
}

/// The same, and whether it compiles for the target.
inline bool compiler_knows(const Target& target) {
  if (!compiler_is_here()) return false;
  const auto supported = compiler::supported_targets();
  if (std::find(supported.begin(), supported.end(), target) != supported.end()) return true;
  WARN("skipped: NVRTC " << compiler::version() << " does not know " << to_text(target));
  return false;
}

}  // namespace jitbag::test
