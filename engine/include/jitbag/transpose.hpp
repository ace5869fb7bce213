#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jitbag/backward.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

/// The ids of bags by row: which rows are named, and of each the bags and positions that name it.
///
/// The ids that count stand in one order: by row, ascending, and of one row in the order in which
/// they were. Padding, bad ids and ids outside every bag do not count. Where offsets decrease and
/// bags overlap, an id is the last one's.
namespace jitbag {

/// What to order, and in which types. Plain data; the fields that ForwardSpec has too are those.
struct TransposeSpec {
  BagLayout bags = FixedBags{};
  IntegerType id_type = IntegerType::int64;
  std::optional<std::int64_t> padding_id = {};
  BadIds bad_ids = BadIds::skip;
  Counts counts = Counts::at_launch;
  /// Weights, one for each id, that are put into the same order.
  std::optional<DataType> weight_type = {};
  /// Type of bags, positions, begins and the inverse map.
  IntegerType index_type = IntegerType::int32;

  bool operator==(const TransposeSpec&) const = default;
};

/// Returns the spec. Throws Error(invalid_argument) that names the field, its value and what is
/// allowed.
[[nodiscard]] TransposeSpec validated(const TransposeSpec& spec);

/// One line that says the whole spec, such as
/// "transpose bags=4 ids=int64 padding=0 bad_ids=skip index=int32".
[[nodiscard]] std::string to_text(const TransposeSpec& spec);

/// How many rows were written and left out, as of a sparse gradient, and how many ids count.
struct TransposeCount : SparseCount {
  std::int64_t ids = 0;
};

/// What a transposition works on. Of the outputs all but `count` and, where there is room for any,
/// `rows` may be null: what is not asked for is not written. `num_ids` stands for all ids of the
/// launch, batch * bag size of a fixed layout.
struct TransposeArguments {
  /// As forward had them: num_rows, ids, num_ids, offsets, batch, weights, counts. The others are
  /// ignored.
  ForwardArguments forward;
  std::int64_t capacity = 0;  ///< rows that there is room for
  void* rows = nullptr;       ///< [capacity] of the ids' type: those that are named, each once
  /// rows, those that were left out for want of room (the last ones), and ids that count.
  TransposeCount* count = nullptr;
  /// [capacity + 1]: rows[k] is named by those from begins[k] to before begins[k + 1]. Written are
  /// count->rows + 1 of them.
  void* begins = nullptr;
  /// [num_ids], of which count->ids are written, those of rows that were left out too: the bag of
  /// each id, its position among all ids, and its weight.
  void* bags_by_row = nullptr;
  void* positions_by_row = nullptr;
  void* weights_by_row = nullptr;  ///< of weight_type, the same bits
  /// [num_ids], all written: where in `rows` the row of each id is; -1 for an id that does not
  /// count, or whose row was left out.
  void* inverse = nullptr;
  /// On the GPU: TransposeKernel::workspace_bytes of memory at a multiple of 256 bytes, of whatever
  /// content, for nobody else until the launch is done.
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
};

/// The kernels of a transposition: the sort of BackwardMethod::sort, with its limits of ids, bags
/// and rows. They allocate nothing, read nothing back to the host, may be captured into a graph,
/// and write the same on every run.
class TransposeKernel {
 public:
  /// `kernels` are those of specialise(), in their order, compiled for launches of this mode.
  TransposeKernel(std::vector<Kernel> kernels, const TransposeSpec& spec, LaunchMode launch_mode,
                  Reports& reports);

  [[nodiscard]] const TransposeSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] std::span<const Kernel> kernels() const noexcept { return kernels_; }

  /// What a launch with arguments of this batch, num_ids and num_rows needs. Reads no pointers.
  [[nodiscard]] std::int64_t workspace_bytes(const TransposeArguments& arguments) const;

  /// As ForwardKernel::launch.
  void launch(const TransposeArguments& arguments, Stream stream) const;

 private:
  std::vector<Kernel> kernels_;
  TransposeSpec spec_;
  BackwardSpec sorting_;  ///< whose sort it is
  LaunchMode launch_mode_;
  Reports* reports_;
};

}  // namespace jitbag
