#pragma once

#include <string_view>

namespace jitbag::templates {

/// The text of a file of this folder, by its name; empty if there is none.
[[nodiscard]] std::string_view find(std::string_view name);

}  // namespace jitbag::templates
