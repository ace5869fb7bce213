#pragma once

#include <string>
#include <string_view>

#include "jitbag/cache/disk_cache.hpp"
#include "output.hpp"

namespace jitbag::tools {

/// "removed 3 records (1.2 MB) and 1 files that dead processes left behind"; `verb` begins it.
[[nodiscard]] std::string to_text(const cache::Removed& removed, std::string_view verb);
[[nodiscard]] Json to_json(const cache::Removed& removed);

}  // namespace jitbag::tools
