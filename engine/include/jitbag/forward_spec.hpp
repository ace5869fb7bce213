#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "jitbag/poolings.hpp"
#include "jitbag/row_scale.hpp"
#include "jitbag/types.hpp"

namespace jitbag {

/// Bags of one size: ids [batch, size].
struct FixedBags {
  std::int64_t size = 1;
  bool operator==(const FixedBags&) const = default;
};

/// How offsets say where the last bag ends.
enum class OffsetsEnd : std::uint8_t {
  included,  ///< offsets [batch + 1]: bag b is ids[offsets[b], offsets[b + 1])
  implied,   ///< offsets [batch]: the last bag ends at the last id
};

/// Bags of any size: ids [n] with offsets. Ids before the first and after the last offset are
/// never read.
struct CsrBags {
  IntegerType offset_type = IntegerType::int64;
  OffsetsEnd end = OffsetsEnd::included;
  bool operator==(const CsrBags&) const = default;
};

using BagLayout = std::variant<FixedBags, CsrBags>;

/// What a kernel does with bad input: an id below 0 or not below the number of rows, an offset
/// below 0, past the last id, or below the one before it.
enum class BadIds : std::uint8_t {
  skip,    ///< a bad id is as if it were padding: not read, not counted. An offset is moved to the
           ///< nearer end of the ids; a bag that ends before it begins is empty
  report,  ///< as skip, and the first one reaches the host as an error at the next check
  trust,   ///< no check: the caller promises that there is none
};

/// How far addresses may reach.
enum class Addressing : std::uint8_t {
  bits64,  ///< any size
  bits32,  ///< the caller promises fewer than 2^31 rows, ids and output elements; a launch with
           ///< more is refused
};

/// Where the numbers of bags and of ids are.
enum class Counts : std::uint8_t {
  at_launch,  ///< ForwardArguments::batch and num_ids
  on_device,  ///< those are capacities, and the numbers are read on the device when the kernel runs
              ///< (ForwardArguments::counts): a graph captured once serves every batch up to them
};

/// CUDA expressions of the caller's own, applied to the pooled vectors before they are stored, and
/// part of the key. They see `x`, the pooled element (float, double for a float64 table), `column`
/// (int, from 0), `dim`, `bag` (its number), `count` (int, the rows counted), `pooling` (int, which
/// of the spec's), `parameters` (const float*, ForwardArguments::end_parameters), and CUDA's own
/// mathematical functions. L2 normalisation is
/// `{.element = "x * rsqrtf(row_sum + 1e-12f)", .row_sum = "x * x"}`.
struct FusedEnd {
  /// What is stored instead of x. Empty: x.
  std::string element = {};
  /// Summed over the columns of the vector first; the element's expression sees it as `row_sum`.
  std::string row_sum = {};

  [[nodiscard]] bool empty() const { return element.empty() && row_sum.empty(); }
  bool operator==(const FusedEnd&) const = default;
};

/// What to compute: forward of an embedding bag, from `table[num_rows, dim]` and ids to
/// `output[batch, poolings * dim]`; without pooling to `output[batch, bag size, dim]` or, for CSR
/// bags, `output[n, dim]`, of which the rows of ids outside every bag are left as they are. Plain
/// data: everything here is compiled in, while pointers, the batch, the number of rows and of ids
/// are given at each launch and never cause a compile.
struct ForwardSpec {
  /// Columns of a row that are pooled. 0 is legal and does nothing.
  std::int64_t dim = 0;
  BagLayout bags = FixedBags{};
  Poolings pooling = Pooling::mean;
  /// The divisor of Pooling::mean_by_length; 0 without that.
  std::int64_t mean_length = 0;
  /// With Pooling::max: also writes which id won, to ForwardArguments::winners. Of equal elements
  /// the first in the bag wins; where nothing is counted the winner is -1.
  bool winners = false;
  DataType table_type = DataType::float32;
  /// Where a quantised table has its scales, and how its rows are laid out. Has no meaning for
  /// others.
  RowScale row_scale = {};
  DataType output_type = DataType::float32;
  /// Weights, one for each id, for sums and means. Those of ids that are not counted are not read.
  std::optional<DataType> weight_type = {};
  IntegerType id_type = IntegerType::int64;
  /// Rows with this id are skipped and not counted.
  std::optional<std::int64_t> padding_id = {};
  BadIds bad_ids = BadIds::skip;
  /// Elements (bytes, for a quantised table) from one row of the table to the next; 0 means no gap.
  std::int64_t row_stride = 0;
  /// Elements from one bag's output to the next (one row's, without pooling); 0 means no gap.
  std::int64_t output_stride = 0;
  /// Bytes that divide the table's address: a power of two, at least the size of an element.
  /// cudaMalloc gives 256; more than 16 is of no further use.
  std::int64_t alignment = 16;
  /// The same for ids and output; 0 means `alignment`, or the size of their elements if that is
  /// more. Offsets, weights and scales need no more than the size of their elements (of scale and
  /// bias together).
  std::int64_t id_alignment = 0;
  std::int64_t output_alignment = 0;
  Addressing addressing = Addressing::bits64;
  Counts counts = Counts::at_launch;
  FusedEnd end = {};

  bool operator==(const ForwardSpec&) const = default;
};

/// Returns the spec with strides and alignments filled in and alignments cut to 16, so that equal
/// work compares equal. Throws Error(invalid_argument) that names the field, its value and what is
/// allowed.
[[nodiscard]] ForwardSpec validated(ForwardSpec spec);

/// One line that says the whole spec, such as
/// "embedding_bag mean dim=64 bags=4 table=float16 output=float16 ids=int64 padding=0
/// bad_ids=skip".
[[nodiscard]] std::string to_text(const ForwardSpec& spec);

/// Bytes of the codes or elements of one row, and from one row to the next.
[[nodiscard]] std::int64_t row_bytes(const ForwardSpec& spec);
[[nodiscard]] std::int64_t row_stride_bytes(const ForwardSpec& validated_spec);

/// Elements that one bag (without pooling: one id) has in the output.
[[nodiscard]] std::int64_t output_width(const ForwardSpec& spec);

[[nodiscard]] std::string_view name(BadIds policy);
[[nodiscard]] BadIds parse_bad_ids(std::string_view name);

}  // namespace jitbag
