#include "runtime/mark_layout.hpp"

#include <algorithm>
#include <bit>

#include "runtime/places.hpp"
#include "spec/refuse.hpp"

namespace jitbag {

MarkLayout::MarkLayout(std::int64_t num_rows) {
  constexpr std::int64_t most_rows = (std::int64_t{1} << 32) - 2;
  // Each block that numbers rows adds up what all chunks before its own have.
  constexpr std::int64_t most_chunks = 4096;
  constexpr std::int64_t rows_of_part = std::int64_t{rows_of_mark} * marks_of_part;
  if (num_rows > most_rows) {
    refuse("There are {} rows, but a sparse gradient takes 2^32 - 2 at most; cut the table in two.",
           num_rows);
  }
  parts = divided_up(num_rows, rows_of_part);
  const std::int64_t least = std::max<std::int64_t>(1, divided_up(parts, most_chunks));
  parts_of_chunk = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least)));
  chunk_bits = std::countr_zero(static_cast<std::uint64_t>(parts_of_chunk * rows_of_part));

  constexpr std::int64_t word = 4;
  Places places;
  marks = places.take(parts * marks_of_part * 2 * word);
  named_in_chunk = places.take(divided_up(parts, parts_of_chunk) * word);
  zeroed_bytes = places.end();
  named_before = places.take(parts * marks_of_part * word);
  bytes = places.end();
}

std::optional<MarkLayout> mark_layout(const BackwardSpec& spec,
                                      const BackwardArguments& arguments) {
  if (!std::holds_alternative<SparseGradient>(spec.table_gradient)) return {};
  return MarkLayout(arguments.forward.num_rows);
}

}  // namespace jitbag
