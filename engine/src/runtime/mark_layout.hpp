#pragma once

#include <cstdint>
#include <optional>

#include "jitbag/backward.hpp"
#include "mark_arguments.cuh"

namespace jitbag {

/// In how many parts the rows of a table are marked and numbered, and where everything is in the
/// workspace: offsets in bytes, each a multiple of 256.
struct MarkLayout {
  /// Throws Error(invalid_argument) for too many rows.
  explicit MarkLayout(std::int64_t num_rows);

  std::int64_t parts = 0;
  std::int64_t parts_of_chunk = 1;
  int chunk_bits = 0;

  std::int64_t marks = 0;
  std::int64_t named_in_chunk = 0;
  /// From the beginning, all that must be 0 before a launch.
  std::int64_t zeroed_bytes = 0;
  std::int64_t named_before = 0;
  std::int64_t bytes = 0;
};

/// That of a sparse gradient by scatter or merge; other gradients mark no rows.
[[nodiscard]] std::optional<MarkLayout> mark_layout(const BackwardSpec& spec,
                                                    const BackwardArguments& arguments);

}  // namespace jitbag
