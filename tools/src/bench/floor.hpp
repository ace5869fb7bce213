#pragma once

#include <vector>

namespace jitbag::tools::bench {

/// What a launch reads of one table.
struct Lookups {
  double lookups = 0;    ///< rows that are read, repeats among them
  double distinct = 0;   ///< rows that are read, without repeats
  double row_bytes = 0;  ///< with what belongs to a row elsewhere, such as its scale
};

/// How many different rows `lookups` uniform draws out of `rows` hit on average.
[[nodiscard]] double expected_distinct(double rows, double lookups);

/// Bytes that a launch moves, wherever from: the row of every lookup, and `rest`.
[[nodiscard]] double all_bytes(const std::vector<Lookups>& tables, double rest);

/// Bytes that must come from or go to the device's memory, however large its caches are: each row
/// that is read at all, once, and `rest`. A table that fits into a cache is thereby read once.
[[nodiscard]] double floor_bytes(const std::vector<Lookups>& tables, double rest);

}  // namespace jitbag::tools::bench
