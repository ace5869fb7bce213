#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "jitbag/types.hpp"

namespace jitbag::host {

/// The inner loops of the backend, for a table's and an output's type.
struct RowLoops {
  /// Adds `count` rows of `dim` elements, each so many bytes into the table, to `sums[dim]`.
  void (*add_rows)(const std::byte* table, const std::uint64_t* row_offsets, int count,
                   std::int64_t dim, float* sums);
  /// Writes `sums[dim]`, divided, to `output[dim]`.
  void (*write_quotients)(const float* sums, float divisor, std::int64_t dim, std::byte* output);
};

/// The loops that are fastest on this processor.
[[nodiscard]] RowLoops row_loops(DataType table, DataType output);

/// For any processor.
[[nodiscard]] RowLoops portable_row_loops(DataType table, DataType output);

/// With AVX2 and F16C; nothing where the processor is without them.
[[nodiscard]] std::optional<RowLoops> avx2_row_loops(DataType table, DataType output);

}  // namespace jitbag::host
