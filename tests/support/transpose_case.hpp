#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forward_case.hpp"
#include "jitbag/transpose.hpp"
#include "placed_array.hpp"

namespace jitbag::test {

/// Every layout, type and policy, in few specs.
[[nodiscard]] std::vector<TransposeSpec> transpose_specs();

/// All that a launch may write to.
struct TransposeOutputs {
  PlacedArray rows, begins, bags_by_row, positions_by_row, weights_by_row, inverse;
  TransposeCount count = {{-1, -1}, -1};

  /// The arrays, in the order of their names.
  [[nodiscard]] std::vector<PlacedArray*> arrays();
};

/// What a transposition reads, and room for what it writes.
struct TransposeCase {
  /// `spare` rows more than are named, or fewer, are there room for. The options' spec is not used.
  TransposeCase(const TransposeSpec& spec, const ForwardCaseOptions& options, std::int64_t spare);

  TransposeSpec spec;
  ForwardCase inputs;
  std::int64_t capacity = 0;
  TransposeOutputs before;    ///< poison
  TransposeOutputs expected;  ///< by std::stable_sort
  std::string description;

  /// Arguments in host memory.
  [[nodiscard]] TransposeArguments host_arguments(TransposeOutputs& outputs) const;

  /// What is wrong with the outputs of a launch, and with what is around them, in one sentence, or
  /// nothing.
  [[nodiscard]] std::string check(TransposeOutputs after) const;
};

/// Launches of no ids, few, and some thousands, of one row and of many, with room and without.
/// Batches over `largest_batch` are cut to it.
[[nodiscard]] std::vector<TransposeCase> transpose_cases(const TransposeSpec& spec,
                                                         std::int64_t largest_batch);

}  // namespace jitbag::test
