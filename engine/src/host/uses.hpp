#pragma once

#include <cstdint>
#include <vector>

#include "host/bags.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag::host {

/// A counted id of a bag.
struct Use {
  std::int64_t row = 0;
  std::int64_t unit = 0;      ///< row of the output: the bag, or without pooling the id's position
  std::int64_t position = 0;  ///< of the id
  bool comes_again = false;   ///< the row has had an id in the same bag before
};

/// What the divisors of a bag are made of.
struct CountedIds {
  std::int64_t count = 0;
  double weight_sum = 0;
};

/// All uses of the table's rows, in the order of the bags, and what each bag counts (nothing
/// without pooling). `spec` is validated.
struct Uses {
  Uses(const ForwardSpec& spec, const ForwardArguments& arguments);

  std::vector<Use> all;
  std::vector<CountedIds> bags;
};

/// The same by row: row k of `rows`, which ascend, has the uses from begins[k] to before
/// begins[k + 1], in the order that they had.
struct UsesByRow {
  explicit UsesByRow(std::vector<Use> uses);

  std::vector<Use> all;
  std::vector<std::int64_t> rows;
  std::vector<std::size_t> begins;
};

}  // namespace jitbag::host
