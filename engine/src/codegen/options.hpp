#pragma once

#include <string>
#include <vector>

namespace jitbag::codegen {

/// How NVRTC is to compile the templates.
[[nodiscard]] inline std::vector<std::string> options() {
  return {"--std=c++17", "--device-as-default-execution-space", "--minimal"};
}

}  // namespace jitbag::codegen
