#pragma once

#include <string>

namespace jitbag::tools {

/// The processor's name, as the system gives it.
[[nodiscard]] std::string processor_name();
/// How many threads the CPU backend uses.
[[nodiscard]] int processor_threads();

}  // namespace jitbag::tools
