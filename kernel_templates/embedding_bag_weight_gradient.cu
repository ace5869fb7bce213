// Embedding bag, backward: the gradient of the weights, one number for each id of a bag.

// clang-format off
#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "weight_gradient_arguments.cuh"
#include "device.cuh"
#include "warps.cuh"
#include "bags.cuh"
#include "report.cuh"
#include "rows.cuh"
#include "runs.cuh"
#include "passed_on.cuh"
#include "output_gradient.cuh"
#include "weight_gradient.cuh"
// clang-format on

constexpr int bags_per_block = groups_per_block * bags_per_group;

extern "C" __global__ void __launch_bounds__(block_threads)
    embedding_bag_weight_gradient(BagArguments arguments,
                                  WeightGradientArguments gradient_arguments, int64 first_block,
                                  BadInputReport* report) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  const Input in = input_of(arguments, report, -1);
  const Gradients gradients = {(const Output*)gradient_arguments.output_gradient,
                               (WeightGradient*)gradient_arguments.weight_gradient};
  const Index block = (Index)first_block + (Index)blockIdx.x;
  write_bags(in, gradients, block * bags_per_block, (Index)end_of_output_rows(in));
}
