#pragma once

#include <optional>
#include <string>
#include <vector>

namespace jitbag::cache {

/// The names in an open folder, in no order, without "." and "..". Nothing: see errno.
[[nodiscard]] std::optional<std::vector<std::string>> names_in(int folder);

/// Removes what has this name, be it a folder full of things; follows no link. False: see errno.
[[nodiscard]] bool remove_tree(int folder, const std::string& name);

}  // namespace jitbag::cache
