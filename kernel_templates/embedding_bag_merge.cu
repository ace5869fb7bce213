// Embedding bag, backward: gradient[id] += what the gradients of the bags' outputs give the rows of
// the ids that count, those of one block's bags together.

// clang-format off
#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "mark_arguments.cuh"
#include "device.cuh"
#include "warps.cuh"
#include "bags.cuh"
#include "report.cuh"
#include "rows.cuh"
#include "runs.cuh"
#include "passed_on.cuh"
#include "output_gradient.cuh"
#include "marked_rows.cuh"
#include "scatter_gradient.cuh"
#include "merged_uses.cuh"
// clang-format on

constexpr int tiles =
    vectors_per_row == 0 ? 1 : (vectors_per_row + vectors_per_tile - 1) / vectors_per_tile;

extern "C" __global__ void __launch_bounds__(block_threads, 1)
    embedding_bag_merge(BagArguments arguments, GradientArguments gradient_arguments,
                        int64 first_block, BadInputReport* report) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  __shared__ Merge merge;
  const Input in = input_of(arguments, report, -1);
  const Gradients gradients = gradients_of(gradient_arguments);
  const Index block = (Index)first_block + (Index)blockIdx.x;
  const Bags bags = {block / tiles * bags_per_block, (Index)end_of_output_rows(in),
                     (int)(block % tiles)};
  merge_bags(in, gradients, bags, merge);
}
