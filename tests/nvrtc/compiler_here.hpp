#pragma once

#include "catch.hpp"
#include "jitbag/compiler.hpp"

namespace jitbag::test {

/// Whether NVRTC is on this machine; says so where it is not.
inline bool compiler_is_here() {
  if (compiler::find()) return true;
  WARN("skipped: NVRTC was not found; `jitbag doctor` says where it is looked for");
  return false;
}

}  // namespace jitbag::test
