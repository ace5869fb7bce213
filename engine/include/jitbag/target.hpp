#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace jitbag {

/// What a kernel is compiled for: a GPU architecture, by its compute capability.
struct Target {
  int major = 9;
  int minor = 0;

  auto operator<=>(const Target&) const = default;

  /// Programmatic dependent launch exists (PTX ISA, griddepcontrol: sm_90 and later).
  [[nodiscard]] bool has_dependent_launch() const { return major >= 9; }
};

/// "sm_90".
[[nodiscard]] std::string to_text(const Target& target);

/// Reads "sm_90". Throws Error(invalid_argument) for anything else and for what is older than
/// sm_75, the oldest architecture that jitbag writes kernels for.
[[nodiscard]] Target parse_target(std::string_view text);

}  // namespace jitbag
