#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "codegen/sorted_kernels.hpp"
#include "jitbag/backward.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/mark_layout.hpp"
#include "spec/arguments.hpp"

namespace jitbag {

/// What scatter and merge work on. `layout` is of the sparse gradient's rows, or null.
[[nodiscard]] inline GradientArguments gradient_arguments(const BackwardSpec& spec,
                                                          const MarkLayout* layout,
                                                          const BackwardArguments& arguments) {
  const bool is_applied = std::holds_alternative<AppliedGradient>(spec.table_gradient);
  GradientArguments all = {};
  all.output_gradient = arguments.output_gradient;
  all.table_gradient = is_applied ? arguments.updated_table : arguments.table_gradient;
  all.parameters = reinterpret_cast<const StepParameters*>(arguments.parameters);
  if (layout != nullptr) {
    const auto* const memory = static_cast<const std::byte*>(arguments.workspace);
    all.marks = reinterpret_cast<const unsigned long long*>(memory + layout->marks);
    all.named_before = reinterpret_cast<const unsigned*>(memory + layout->named_before);
    all.capacity = arguments.capacity;
  }
  return all;
}

/// A batch's ids are marked in several launches: up to these parts of its bags, one after the
/// other. Ids that are marked at once find none of each other's marks: all that name one row then
/// add to its word, each after the other, 6 ns each (H200). Of many ids a few go first, so that the
/// others find the rows that many name marked.
[[nodiscard]] inline std::span<const std::int64_t> parts_to_mark(std::int64_t ids) {
  static constexpr std::array<std::int64_t, 3> parts = {1024, 32, 1};
  constexpr std::int64_t many_ids = std::int64_t{1} << 17;
  return std::span(parts).last(ids < many_ids ? 1 : parts.size());
}

/// Enqueues what finds the rows of a sparse gradient and their places, on a machine as
/// enqueue_sort() has it.
template <class Machine>
void enqueue_marks(Machine& machine, const BackwardSpec& spec, const MarkLayout& layout,
                   const BackwardArguments& arguments) {
  if (layout.parts == 0) {
    machine.fill(arguments.count, 0, sizeof(SparseCount));
    return;
  }
  // As many blocks as there may be at once.
  constexpr std::int64_t most_blocks_that_mark = 1024;
  auto* const memory = static_cast<std::byte*>(arguments.workspace);
  auto* const marks = reinterpret_cast<unsigned long long*>(memory + layout.marks);
  auto* const named_in_chunk = reinterpret_cast<unsigned*>(memory + layout.named_in_chunk);
  machine.fill(memory, 0, layout.zeroed_bytes);
  const std::int64_t rows_at_once = marking_block_threads / lanes_per_bag(spec.forward);
  const std::int64_t rows = output_rows(spec.forward, arguments.forward);
  MarkArguments part = {.marks = marks,
                        .named_in_chunk = named_in_chunk,
                        .chunk_bits = layout.chunk_bits,
                        .first = 0,
                        .end = 0};
  for (const std::int64_t parts : parts_to_mark(num_ids(spec.forward, arguments.forward))) {
    part.first = std::exchange(part.end, divided_up(rows, parts));
    const std::int64_t blocks = divided_up(part.end - part.first, rows_at_once);
    if (blocks == 0) continue;
    machine.launch(MarkingKernel::mark, std::min(blocks, most_blocks_that_mark),
                   marking_block_threads, bag_arguments(arguments.forward), part);
  }
  machine.launch(MarkingKernel::number, layout.parts, marking_block_threads,
                 NumberMarksArguments{
                     .marks = marks,
                     .named_in_chunk = named_in_chunk,
                     .named_before = reinterpret_cast<unsigned*>(memory + layout.named_before),
                     .gradient = arguments.table_gradient,
                     .rows = arguments.rows,
                     .count = reinterpret_cast<long long*>(arguments.count),
                     .capacity = arguments.capacity,
                     .parts_of_chunk = static_cast<unsigned>(layout.parts_of_chunk)});
}

}  // namespace jitbag
