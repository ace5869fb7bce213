#pragma once

#include <string_view>

#include "jitbag/cache/cache.hpp"

namespace jitbag::tools {

/// One sentence on standard error about what was got over.
void warn(std::string_view sentence);

/// What the environment says of the cache; what makes no sense in it is told.
[[nodiscard]] cache::CacheOptions cache_options_here();

}  // namespace jitbag::tools
