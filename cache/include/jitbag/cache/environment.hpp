#pragma once

#include <optional>
#include <string>

namespace jitbag::cache {

/// The value of an environment variable. Nothing when it is unset or empty, and nothing at all in a
/// program with set-uid or set-gid rights: its environment is another user's.
[[nodiscard]] std::optional<std::string> environment(const char* name);

}  // namespace jitbag::cache
