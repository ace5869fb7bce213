#include "runtime/launch_weight_gradient.hpp"

#include <array>

#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/launch_blocks.hpp"
#include "weight_gradient_arguments.cuh"

namespace jitbag {

void launch_weight_gradient(const Kernel& kernel, const Strategy& shape,
                            const BackwardArguments& arguments, BadInputReport* report,
                            Stream stream) {
  BagArguments bags = bag_arguments(arguments.forward);
  WeightGradientArguments gradients = {.output_gradient = arguments.output_gradient,
                                       .weight_gradient = arguments.weight_gradient};
  std::int64_t first_block = 0;
  std::array<void*, 4> parameters = {&bags, &gradients, &first_block, &report};
  // All tiles of a row are one block's.
  const std::int64_t blocks = divided_up(arguments.forward.batch, rows_per_block(shape));
  launch_blocks(kernel, shape, blocks, first_block, parameters, stream);
}

}  // namespace jitbag
