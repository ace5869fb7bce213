#pragma once

#include <functional>
#include <string_view>

namespace jitbag::cache {

/// Told, in one sentence, what went wrong and was got over. May be called from any thread.
using Warn = std::function<void(std::string_view sentence)>;

}  // namespace jitbag::cache
