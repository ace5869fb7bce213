#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

/// Enqueues what finds the rows of a sparse gradient and their places, on a machine as
/// enqueue_sort() has it.
template <class Machine>
void enqueue_marks(Machine& machine, const BackwardSpec& spec, const MarkLayout& layout,
                   const BackwardArguments& arguments) {
  if (layout.parts == 0) {
    machine.fill(arguments.count, 0, sizeof(SparseCount));
    return;
  }
  // Few bags for each thread, as many blocks as there may be at once.
  constexpr std::int64_t most_blocks_that_mark = 2048;
  auto* const memory = static_cast<std::byte*>(arguments.workspace);
  auto* const marks = reinterpret_cast<unsigned long long*>(memory + layout.marks);
  auto* const named_in_chunk = reinterpret_cast<unsigned*>(memory + layout.named_in_chunk);
  machine.fill(memory, 0, layout.zeroed_bytes);
  const std::int64_t rows_at_once = marking_block_threads / lanes_per_bag(spec.forward);
  const std::int64_t rows = output_rows(spec.forward, arguments.forward);
  machine.launch(
      MarkingKernel::mark,
      std::clamp<std::int64_t>(divided_up(rows, rows_at_once), 1, most_blocks_that_mark),
      marking_block_threads, bag_arguments(arguments.forward),
      MarkArguments{
          .marks = marks, .named_in_chunk = named_in_chunk, .chunk_bits = layout.chunk_bits});
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
