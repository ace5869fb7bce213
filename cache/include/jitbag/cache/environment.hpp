#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace jitbag::cache {

/// The value of an environment variable. Nothing when it is unset or empty, and nothing at all in a
/// program with set-uid or set-gid rights: its environment is another user's.
[[nodiscard]] std::optional<std::string> environment(const char* name);

/// The same for a list of paths with colons between them, without the empty ones.
[[nodiscard]] std::vector<std::filesystem::path> environment_paths(const char* name);

}  // namespace jitbag::cache
