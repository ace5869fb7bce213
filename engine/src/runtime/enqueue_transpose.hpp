#pragma once

#include <numeric>

#include "runtime/enqueue_sorted.hpp"
#include "spec/transpose_spec.hpp"

namespace jitbag {

/// Where a transposition writes to, as its last kernel takes it.
[[nodiscard]] inline TransposedUses transposed_uses(const SortLayout& layout,
                                                    const TransposeArguments& arguments) {
  return {.weights = arguments.forward.weights,
          .begins = arguments.begins,
          .bags = arguments.bags_by_row,
          .positions = arguments.positions_by_row,
          .weights_by_row = arguments.weights_by_row,
          .inverse = arguments.inverse,
          .ids = reinterpret_cast<long long*>(&arguments.count->ids),
          .capacity = arguments.capacity,
          .uses_per_warp =
              static_cast<unsigned>(std::lcm(layout.slice, std::int64_t{transpose_warp_lanes}))};
}

/// What a transposition enqueues, in its order, on a machine as that of enqueue_sort(). `sorting`
/// is sorting_of(spec).
template <class Machine>
void enqueue_transpose(Machine& machine, const TransposeSpec& spec, const BackwardSpec& sorting,
                       const SortLayout& layout, const TransposeArguments& arguments,
                       BadInputReport* report) {
  if (layout.ids == 0) {
    machine.fill(arguments.count, 0, sizeof(TransposeCount));
    if (arguments.begins != nullptr) machine.fill(arguments.begins, 0, size_of(spec.index_type));
    return;
  }
  const BackwardArguments of_sort = sorting_of(arguments);
  const SortedArguments sorted(sorting, layout, of_sort);
  enqueue_sort<TransposingKernel>(machine, layout, sorted, arguments.workspace, report);
  machine.launch(TransposingKernel::number_rows, sorted.number_rows_blocks(),
                 number_rows_block_threads, sorted.number_rows());
  const TransposedUses to = transposed_uses(layout, arguments);
  const std::int64_t uses_per_block =
      std::int64_t{to.uses_per_warp} * (transpose_block_threads / transpose_warp_lanes);
  // One use more than there are: the end of the last row.
  machine.launch(TransposingKernel::transpose, divided_up(layout.ids + 1, uses_per_block),
                 transpose_block_threads, sorted.sorted_uses(), to);
}

}  // namespace jitbag
