#pragma once

#include <cstddef>
#include <cstdint>

#include "codegen/sorted_kernels.hpp"
#include "runtime/sorted_arguments.hpp"

namespace jitbag {

/// Enqueues the sort of a layout's ids by row, on a machine that has fill(address, byte, bytes) and
/// launch(kernel, blocks, threads, arguments...): a GPU, or a CPU in the tests. `KernelOf` numbers
/// the machine's kernels.
template <class KernelOf, class Machine>
void enqueue_sort(Machine& machine, const SortLayout& layout, const SortedArguments& sorted,
                  void* workspace, BadInputReport* report) {
  auto* const memory = static_cast<std::byte*>(workspace);
  machine.fill(memory, 0, layout.zeroed_bytes);
  if (layout.needs_ones) machine.fill(memory + layout.keys[0], 0xff, layout.bytes_of_ones);

  machine.launch(KernelOf::uses, sorted.uses_blocks(), uses_block_threads, sorted.bags(),
                 sorted.uses(), report);
  for (int pass = 0; pass < layout.passes; ++pass) {
    machine.launch(layout.has_large_tiles ? KernelOf::large_pass : KernelOf::small_pass,
                   layout.tiles, pass_block_threads, sorted.pass(pass));
  }
}

/// What the sort method enqueues, in its order. `table` is gradient_table(spec).
template <class Machine>
void enqueue_sorted(Machine& machine, const BackwardSpec& spec, const ForwardSpec& table,
                    const Strategy& shape, const SortLayout& layout,
                    const BackwardArguments& arguments, BadInputReport* report) {
  const bool is_sparse = std::holds_alternative<SparseGradient>(spec.table_gradient);
  if (layout.ids == 0) {
    if (is_sparse) machine.fill(arguments.count, 0, sizeof(SparseCount));
    return;
  }
  const SortedArguments sorted(spec, layout, arguments);
  enqueue_sort<SortedKernel>(machine, layout, sorted, arguments.workspace, report);
  if (is_sparse) {
    machine.launch(SortedKernel::number_rows, sorted.number_rows_blocks(),
                   number_rows_block_threads, sorted.number_rows());
  }
  if (spec.forward.dim == 0) return;
  const std::int64_t tiles = tiles_of(table, shape);
  machine.launch(SortedKernel::reduce, divided_up(layout.slices, rows_per_block(shape)) * tiles,
                 shape.block_threads, sorted.bags(), sorted.sorted_uses(), sorted.row_gradients());
  machine.launch(SortedKernel::join, sorted.join_blocks() * tiles, join_block_threads,
                 sorted.sorted_uses(), sorted.row_gradients());
}

}  // namespace jitbag
