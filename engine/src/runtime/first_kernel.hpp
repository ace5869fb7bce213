#pragma once

#include <vector>

#include "jitbag/error.hpp"

namespace jitbag {

/// The kernel that `make` gives for the first of these strategies, at least one. Where it is in no
/// cache and there is no compiler either, the next one is tried: what was shipped for the rule's
/// strategy serves although wisdom has another.
template <class Strategies, class Make>
decltype(auto) first_kernel(const std::vector<Strategies>& strategies, Make&& make) {
  for (std::size_t i = 0; i + 1 < strategies.size(); ++i) {
    try {
      return make(strategies[i]);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::missing_library) throw;
    }
  }
  return make(strategies.back());
}

}  // namespace jitbag
