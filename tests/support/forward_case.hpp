#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"
#include "placed_array.hpp"

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
  IdMix mix = {};
  std::int64_t longest_bag = 8;  ///< CSR only
  /// Elements by which the address of each array misses a multiple of 16. The spec's alignment
  /// must allow them.
  std::int64_t table_misalignment = 0;
  std::int64_t ids_misalignment = 0;
  /// Whether poison follows the inputs; without it a sanitizer sees reads past their ends.
  bool poison_after = true;
  /// CSR only, not under BadIds::trust: some offsets are below 0, past the ids, or decrease.
  bool broken_offsets = false;
  /// CSR only: whether there are ids before the first offset, and after the last one where that is
  /// allowed.
  bool ids_outside_bags = true;
  /// Share of the table's elements that are infinite or NaN, where the type has that.
  double special = 0;
  /// Counts::on_device only: bags (and ids) that the launch has room for, beyond those there are.
  std::int64_t spare_bags = 0;
  std::uint64_t seed = 0;
};

/// The arrays that a launch reads.
enum class Input { table, ids, offsets, weights, scales, counts, end_parameters };
constexpr std::size_t input_arrays = 7;

/// A spec with inputs to run it on. Rows that no counted id names, scales of such rows, weights of
/// ids that are not counted, the gaps between rows and the surroundings are NaN; ids outside every
/// bag are far outside the table. CSR bags are empty at the front, at the back and twice in a row
/// in the middle, where the batch has room for that; some rows equal another.
struct ForwardCase {
  ForwardSpec spec;        ///< validated
  std::int64_t batch = 0;  ///< and num_ids: what is passed to the launch
  std::int64_t num_rows = 0;
  std::int64_t num_ids = 0;
  std::array<PlacedArray, input_arrays> inputs;
  std::string description;  ///< the spec and the options, for messages

  [[nodiscard]] PlacedArray& input(Input which) { return inputs[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const PlacedArray& input(Input which) const {
    return inputs[static_cast<std::size_t>(which)];
  }

  /// With each input where `address` says, and no outputs.
  [[nodiscard]] ForwardArguments arguments(const std::function<const void*(Input)>& address) const;
  [[nodiscard]] ForwardArguments host_arguments() const;

  /// Bytes from the output's first element to the end of its last.
  [[nodiscard]] std::size_t output_bytes() const;
  /// 0 where the spec has no winners.
  [[nodiscard]] std::size_t winners_bytes() const;
};

/// The same options give the same case, everywhere. Throws std::invalid_argument for ids that are
/// to be trusted in a table without rows.
[[nodiscard]] ForwardCase make_forward_case(const ForwardCaseOptions& options);

/// Ids of bags that come from elsewhere; offsets for CSR bags.
struct GivenBags {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> offsets;
};

/// A case with these ids in place of random ones. Counts must be those of the launch.
[[nodiscard]] ForwardCase make_forward_case(const ForwardCaseOptions& options,
                                            const GivenBags& given);

/// The bytes of an output that a launch with these arguments has.
[[nodiscard]] std::size_t output_bytes(const ForwardSpec& validated_spec,
                                       const ForwardArguments& arguments);

}  // namespace jitbag::test
