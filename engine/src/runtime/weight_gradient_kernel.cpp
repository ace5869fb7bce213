#include "runtime/weight_gradient_kernel.hpp"

#include <array>
#include <utility>

#include "device/reports.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/launch_blocks.hpp"
#include "spec/arguments.hpp"
#include "weight_gradient_arguments.cuh"

namespace jitbag {

WeightGradientKernel::WeightGradientKernel(Kernel kernel, const BackwardSpec& spec,
                                           const Strategy& strategy, Reports& reports)
    : kernel_(std::move(kernel)), spec_(spec), strategy_(strategy), reports_(&reports) {}

void WeightGradientKernel::launch(const BackwardArguments& arguments, Stream stream) const {
  check_arguments(spec_, arguments);
  BadInputReport* report = reports_->before_launch(spec_.forward.bad_ids == BadIds::report);
  BagArguments bags = bag_arguments(arguments.forward);
  WeightGradientArguments gradients = {.output_gradient = arguments.output_gradient,
                                       .weight_gradient = arguments.weight_gradient};
  std::int64_t first_block = 0;
  std::array<void*, 4> parameters = {&bags, &gradients, &first_block, &report};
  // All tiles of a row are one block's.
  const std::int64_t blocks = divided_up(arguments.forward.batch, rows_per_block(strategy_));
  launch_blocks(kernel_, strategy_, blocks, first_block, parameters, stream);
}

}  // namespace jitbag
