#pragma once

#include <string>

#include "jitbag/forward_spec.hpp"

namespace jitbag {

/// "4" or "csr offsets=int64 end=implied": what specs say of their bags.
[[nodiscard]] std::string bags_text(const BagLayout& bags);

}  // namespace jitbag
