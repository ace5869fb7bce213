#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jitbag/quantise.hpp"

namespace jitbag::test {

/// Specs of every type of codes with every layout of rows, dims from 1 to more than a block has
/// threads.
[[nodiscard]] std::vector<ForwardSpec> quantiser_specs();

/// Rows to quantise: equal values, zeros of both signs, ties, tiny numbers, numbers beyond float16,
/// ranges beyond float32, outliers, one sign only. `dim` values each.
[[nodiscard]] std::vector<float> rows_to_quantise(std::int64_t num_rows, std::int64_t dim,
                                                  std::uint64_t seed);

/// A quantised table in memory: poison until it is made. Its arrays have the sizes that they need
/// and no more, so that a sanitizer sees what is written past them.
struct QuantisedTable {
  std::int64_t num_rows = 0;
  std::size_t begin = 0;          ///< of the rows: an address no better aligned than promised
  std::vector<std::byte> bytes;   ///< from `begin` to the end of the last row that holds something
  std::vector<std::byte> scales;  ///< RowScale::Place::apart

  QuantisedTable(const ForwardSpec& spec, std::int64_t num_rows);

  [[nodiscard]] QuantiseArguments arguments(const float* values);

  bool operator==(const QuantisedTable&) const = default;
};

/// What host::quantise makes of the rows.
[[nodiscard]] QuantisedTable quantised_on_host(const ForwardSpec& spec,
                                               const std::vector<float>& values);

/// Makes some rows NaN or infinite in one place, and of the table from the finite rows the table
/// expected for them: codes 0, NaN as the scale and, where it follows from the values, as the
/// bias. Returns that table.
[[nodiscard]] QuantisedTable spoil_rows(const ForwardSpec& spec, const QuantisedTable& table,
                                        std::vector<float>& values);

/// Nothing, or one sentence on the first byte that differs.
[[nodiscard]] std::string difference(const QuantisedTable& actual, const QuantisedTable& expected,
                                     const ForwardSpec& spec);

}  // namespace jitbag::test
