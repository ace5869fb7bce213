#pragma once

#include <vector>

#include "jitbag/strategy.hpp"
#include "jitbag/tables.hpp"

namespace jitbag::codegen {

/// Tables of a set that are alike share one body in its kernel.
struct Kind {
  ForwardSpec spec;  ///< as it is within the set
  Strategy strategy;
  bool operator==(const Kind&) const = default;
};

struct Kinds {
  std::vector<Kind> all;
  std::vector<int> of_table;  ///< the number of each table's kind
};

/// Of a validated set, in the order in which they first come.
[[nodiscard]] Kinds kinds_of(const TablesSpec& spec, const std::vector<Strategy>& strategies);

}  // namespace jitbag::codegen
