#pragma once

#include "jitbag/tables.hpp"

namespace jitbag {

/// Rows that a bag of table `number` is expected to gather: its size, or what the caller expects of
/// CSR bags, or 4.
[[nodiscard]] inline double expected_rows_of_bag(const TablesSpec& spec, std::size_t number) {
  const ForwardSpec& table = spec.tables[number];
  if (table.pooling.has(Pooling::none)) return 1;
  if (const auto* fixed = std::get_if<FixedBags>(&table.bags)) {
    return static_cast<double>(fixed->size);
  }
  if (!spec.expected.empty() && spec.expected[number].bag_size > 0) {
    return spec.expected[number].bag_size;
  }
  return 4;
}

}  // namespace jitbag
