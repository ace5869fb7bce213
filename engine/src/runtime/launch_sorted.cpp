#include "runtime/launch_sorted.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "codegen/sorted_kernels.hpp"
#include "jitbag/device.hpp"
#include "runtime/sorted_arguments.hpp"
#include "spec/gradient_table.hpp"

namespace jitbag {
namespace {

/// Launches of one call, one after the other.
class Launches {
 public:
  Launches(std::span<const Kernel> kernels, LaunchMode mode, Stream stream)
      : kernels_(kernels), mode_(mode), stream_(stream) {}

  void operator()(SortedKernel kernel, std::int64_t blocks, int threads, auto... arguments) const {
    const std::array<void*, sizeof...(arguments)> parameters = {&arguments...};
    kernels_[static_cast<std::size_t>(kernel)].launch({.blocks_x = static_cast<unsigned>(blocks),
                                                       .threads_x = static_cast<unsigned>(threads),
                                                       .mode = mode_},
                                                      parameters, stream_);
  }

 private:
  std::span<const Kernel> kernels_;
  LaunchMode mode_;
  Stream stream_;
};

}  // namespace

void launch_sorted(std::span<const Kernel> kernels, const BackwardSpec& spec, const Strategy& shape,
                   const BackwardArguments& arguments, BadInputReport* report, Stream stream) {
  const SortLayout layout(spec, arguments);
  const SortedArguments sorted(spec, layout, arguments);
  if (layout.ids == 0) {
    if (arguments.count != nullptr)
      device::fill_bytes(arguments.count, 0, sizeof(SparseCount), stream);
    return;
  }
  auto* const memory = static_cast<std::byte*>(arguments.workspace);
  device::fill_bytes(memory, 0, static_cast<std::size_t>(layout.zeroed_bytes), stream);
  if (layout.needs_ones) {
    device::fill_bytes(memory + layout.keys[0], 0xff,
                       static_cast<std::size_t>(layout.bytes_of_ones), stream);
  }

  const Launches launch(kernels, shape.launch_mode, stream);
  launch(SortedKernel::uses, sorted.uses_blocks(), uses_block_threads, sorted.bags(), sorted.uses(),
         report);
  for (int pass = 0; pass < layout.passes; ++pass) {
    launch(layout.has_large_tiles ? SortedKernel::large_pass : SortedKernel::small_pass,
           layout.tiles, pass_block_threads, sorted.pass(pass));
  }
  if (std::holds_alternative<SparseGradient>(spec.table_gradient)) {
    launch(SortedKernel::number_rows, sorted.number_rows_blocks(), number_rows_block_threads,
           sorted.number_rows());
  }
  if (spec.forward.dim == 0) return;
  const std::int64_t tiles = tiles_of(gradient_table(spec), shape);
  launch(SortedKernel::reduce, divided_up(layout.slices, rows_per_block(shape)) * tiles,
         shape.block_threads, sorted.bags(), sorted.sorted_uses(), sorted.row_gradients());
  launch(SortedKernel::join, divided_up(layout.slices, slices_per_block_of_join) * tiles,
         shape.block_threads, sorted.sorted_uses(), sorted.row_gradients());
}

}  // namespace jitbag
