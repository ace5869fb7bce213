// Embedding bag, forward: output[bag] = the pooled rows table[id] of the ids that count.

#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "device.cuh"
#include "embedding_bag.cuh"

constexpr int tiles =
    vectors_per_row == 0 ? 1 : (vectors_per_row + vectors_per_tile - 1) / vectors_per_tile;
// Words of loaded rows and of sums, nearly all that a lane holds where it gathers a bag at once.
constexpr int lane_words =
    pool_words + bags_in_flight * in_flight * vectors_per_lane * ((vector_bytes + 3) / 4);
// Asked for 1024 threads on a multiprocessor, ptxas gives each up to 64 registers; left to itself
// it saves registers, and no longer has all rows on their way at once.
constexpr bool fits_64_registers =
    gathers_at_once && lane_words <= 48 && !has_scale && !has_weights;
// A multiprocessor of sm_75 holds 16 blocks.
constexpr int resident_blocks = fits_64_registers && block_threads >= 64 ? 1024 / block_threads : 0;
constexpr int rows_per_block = groups_per_block * bags_per_group;

extern "C" __global__ void __launch_bounds__(block_threads, resident_blocks)
    embedding_bag(BagArguments arguments, int64 first_block, BadInputReport* report) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  __shared__ uint32 shared[shared_words > 0 ? shared_words : 1];
  const Input in = input_of(arguments, report, -1);
  const Index block = (Index)first_block + (Index)blockIdx.x;
  pool_bags(in, block / tiles * rows_per_block, (Index)end_of_output_rows(in), (int)(block % tiles),
            shared);
}
