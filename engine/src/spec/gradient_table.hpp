#pragma once

#include "jitbag/backward.hpp"

namespace jitbag {

/// What rows' gradients go to, for a validated spec, as a table that forward would read: a dense
/// gradient, or one that is cleared; the rows of a sparse one; the table that is stepped, and also
/// where there is no gradient of it.
[[nodiscard]] ForwardSpec gradient_table(const BackwardSpec& spec);

/// Whether rows have gradients to add up: not where they are cleared, or nothing is made of them.
[[nodiscard]] bool sums_rows(const BackwardSpec& spec);

/// Whether additions or stores in memory can do it.
[[nodiscard]] bool can_scatter(const BackwardSpec& spec);

/// Whether several ids' parts of a row's sum may be added at once: a maximum alone has no sum.
[[nodiscard]] bool can_merge(const BackwardSpec& spec);

/// Bytes that must divide the address of an array of rows of so many elements: 16, as far as rows
/// are a multiple of them.
[[nodiscard]] std::int64_t row_alignment(std::int64_t row_bytes);

}  // namespace jitbag
