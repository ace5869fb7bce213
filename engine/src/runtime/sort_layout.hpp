#pragma once

#include <array>
#include <cstdint>

#include "jitbag/backward.hpp"

namespace jitbag {

/// How many ids a launch sorts, in which steps, and where everything is in its workspace: offsets
/// in bytes, each a multiple of 256.
struct SortLayout {
  /// Reads sizes alone. `spec` is validated, `table` is its gradient_table(). Throws
  /// Error(invalid_argument) for too many ids or rows.
  SortLayout(const BackwardSpec& spec, const ForwardSpec& table,
             const BackwardArguments& arguments);

  std::int64_t ids = 0;
  int passes = 1;
  int digit_bits = 1;
  bool has_large_tiles = false;
  std::int64_t tiles = 0;  ///< of one pass
  std::int64_t slice = 8;  ///< uses
  std::int64_t slices = 0;

  /// From the beginning, all that must be 0 before a launch.
  std::int64_t zeroed_bytes = 0;
  std::int64_t digits = 0;
  std::int64_t next_tiles = 0;  ///< one word for each pass, and one to number rows
  std::int64_t long_rows_count = 0;
  std::int64_t pass_tiles = 0;
  std::int64_t bytes_of_pass_tiles = 0;  ///< of each pass
  std::int64_t row_tiles = 0;

  /// Where keys are not all written: what must be filled with ones, the first keys and the bags.
  bool needs_ones = false;
  std::int64_t bytes_of_ones = 0;
  std::array<std::int64_t, 2> keys = {};
  std::array<std::int64_t, 2> positions = {};
  std::int64_t bags = 0;
  std::int64_t shares = 0;
  std::int64_t rows_before = 0;
  std::int64_t pieces = 0;
  std::int64_t long_rows = 0;
  std::int64_t bytes = 0;
};

}  // namespace jitbag
