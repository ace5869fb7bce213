#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/row_block.hpp"
#include "jitbag/types.hpp"

namespace jitbag::host {

/// The inner loops of the backend with float32 sums, for a table's and an output's type.
struct RowLoops {
  /// Adds the rows of a block, `row_bytes` apart, times their weights, to `sums[dim]`. Null for the
  /// tables that have no loop of their own: float64 and quantised ones.
  void (*add_rows)(const std::byte* table, std::uint64_t row_bytes, const RowBlock<float>& block,
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
