#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

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

/// How the rows of a bag become one.
enum class Pooling : std::uint8_t {
  mean,  ///< the sum of the counted rows divided by their number; zeros when none is counted
};

/// What a kernel does with an id below 0 or not below the number of rows.
enum class BadIds : std::uint8_t {
  skip,    ///< as if it were padding: not read, not counted
  report,  ///< as skip, and the first one reaches the host as an error at the next check
  trust,   ///< no check: the caller promises that there is none
};

/// How far addresses may reach.
enum class Addressing : std::uint8_t {
  bits64,  ///< any size
  bits32,  ///< the caller promises fewer than 2^31 rows, ids and output elements; a launch with
           ///< more is refused
};

/// What to compute: forward of an embedding bag, from `table[num_rows, dim]` and ids to
/// `output[batch, dim]`. Plain data: everything here is compiled in, while pointers, the batch, the
/// number of rows and of ids are given at each launch and never cause a compile.
struct ForwardSpec {
  /// Columns of a row that are pooled. 0 is legal and does nothing.
  std::int64_t dim = 0;
  BagLayout bags = FixedBags{};
  Pooling pooling = Pooling::mean;
  DataType table_type = DataType::float32;
  DataType output_type = DataType::float32;
  IntegerType id_type = IntegerType::int64;
  /// Rows with this id are skipped and not counted.
  std::optional<std::int64_t> padding_id = {};
  BadIds bad_ids = BadIds::skip;
  /// Elements from one row of the table to the next; 0 means `dim`. The output is contiguous.
  std::int64_t row_stride = 0;
  /// Bytes that divide the addresses of table, ids and output: a power of two, at least the size
  /// of an element. cudaMalloc gives 256; more than 16 is of no further use.
  std::int64_t alignment = 16;
  Addressing addressing = Addressing::bits64;

  bool operator==(const ForwardSpec&) const = default;
};

/// Returns the spec with `row_stride` filled in and `alignment` cut to 16, so that equal work
/// compares equal. Throws Error(invalid_argument) that names the field, its value and what is
/// allowed.
[[nodiscard]] ForwardSpec validated(ForwardSpec spec);

/// One line that says the whole spec, such as
/// "embedding_bag_mean dim=64 bags=4 table=float16 output=float16 ids=int64 padding=0
/// bad_ids=skip".
[[nodiscard]] std::string to_text(const ForwardSpec& spec);

[[nodiscard]] std::string_view name(BadIds policy);
[[nodiscard]] BadIds parse_bad_ids(std::string_view name);

}  // namespace jitbag
