// The last but one step of backward's sorted strategy: a slice of the sorted uses for each group of
// lanes.

// clang-format off
#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "device.cuh"
#include "warps.cuh"
#include "sort_arguments.cuh"
#include "bags.cuh"
#include "rows.cuh"
#include "passed_on.cuh"
#include "optimizers.cuh"
#include "stochastic_rounding.cuh"
#include "row_gradients.cuh"
#include "slices.cuh"
#include "reduce_uses.cuh"
// clang-format on

constexpr int tiles =
    vectors_per_row == 0 ? 1 : (vectors_per_row + vectors_per_tile - 1) / vectors_per_tile;

extern "C" __global__ void __launch_bounds__(block_threads)
    reduce_uses(BagArguments arguments, SortedUses uses, RowGradientArguments to) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  const Input in = input_of(arguments, nullptr, -1);
  const RowGradients gradients = row_gradients_of(to);
  __shared__ Chunk chunks[groups_per_block];
  const int group = (int)threadIdx.x / lanes_per_row;
  Lane lane = {};
  // One tile of columns after the other, so that the L2 cache has to hold but that of the
  // gradients.
  const uint32 blocks_of_tile = gridDim.x / tiles;
  lane.tile = (int)(blockIdx.x / blocks_of_tile);
  lane.row_lane = (int)threadIdx.x % lanes_per_row;
  reduce_slice(in, uses, (const Output*)to.output_gradient, gradients, lane,
               (int64)(blockIdx.x % blocks_of_tile) * groups_per_block + group, chunks[group]);
}
