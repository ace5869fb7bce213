#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag::test {

/// Shares of the ids of a case, each from 0 to 1. What is left is uniform over the rows.
struct IdMix {
  double padding = 0.2;     ///< the spec's padding id, if it has one
  double duplicates = 0.2;  ///< an id of the same bag again
  double bad = 0.1;         ///< -1, the number of rows, and far beyond; none under BadIds::trust
};

/// All that decides a case.
struct ForwardCaseOptions {
  ForwardSpec spec;
  std::int64_t batch = 1;
  std::int64_t num_rows = 1;
  IdMix mix;
  std::int64_t longest_bag = 8;  ///< CSR only
  /// Elements by which the address of each array misses a multiple of 16. The spec's alignment
  /// must allow them.
  std::int64_t table_misalignment = 0;
  std::int64_t ids_misalignment = 0;
  /// Whether poison follows the table and the ids; without it a sanitizer sees reads past their
  /// ends.
  bool poison_after = true;
  /// CSR only, not under BadIds::trust: some offsets are below 0, past the ids, or decrease.
  bool broken_offsets = false;
  std::uint64_t seed = 0;
};

/// An array somewhere within a buffer, poison around it.
struct PlacedArray {
  std::vector<std::byte> buffer;
  std::size_t begin = 0;  ///< bytes from the buffer's begin to the array's

  [[nodiscard]] const std::byte* data() const { return buffer.data() + begin; }
};

/// A spec with a table, ids and offsets to run it on. Rows that no counted id names, the gaps
/// between rows and the surroundings are NaN; the ids outside every bag are far outside the table.
/// CSR bags are empty at the front, at the back and twice in a row in the middle, where the batch
/// has room for that. On a GPU, copy the buffers and keep `begin`.
struct ForwardCase {
  ForwardSpec spec;  ///< validated
  std::int64_t batch = 0;
  std::int64_t num_rows = 0;
  std::int64_t num_ids = 0;
  PlacedArray table;
  PlacedArray ids;
  PlacedArray offsets;                  ///< CSR only
  std::vector<std::int64_t> bag_sizes;  ///< ids of each bag, counted or not
  bool has_bad_id = false;              ///< what BadIds::report must report
  std::string description;              ///< the spec and the options, for messages

  [[nodiscard]] ForwardArguments host_arguments(void* output) const;
  [[nodiscard]] std::size_t output_bytes() const;
};

/// The same options give the same case, everywhere. Throws std::invalid_argument for ids that are
/// to be trusted in a table without rows.
[[nodiscard]] ForwardCase make_forward_case(const ForwardCaseOptions& options);

/// Fills with NaNs of whatever type.
void poison(std::span<std::byte> bytes);

/// Compares every element of a contiguous output with the oracle. The tolerance is that of float32
/// sums in any order, times a reciprocal, rounded to the output's type. Returns nothing, or one
/// sentence about the first wrong element.
[[nodiscard]] std::string check_output(const ForwardCase& forward_case,
                                       std::span<const std::byte> output);

}  // namespace jitbag::test
