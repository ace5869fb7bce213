#include <array>

#include "device/reports.hpp"
#include "jitbag/backward.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/launch_blocks.hpp"
#include "spec/arguments.hpp"
#include "spec/gradient_table.hpp"

namespace jitbag {

BackwardKernel::BackwardKernel(Kernel kernel, const BackwardSpec& spec, const Strategy& strategy,
                               Reports& reports)
    : kernel_(std::move(kernel)),
      spec_(spec),
      gradient_table_(gradient_table(spec)),
      strategy_(strategy),
      reports_(&reports) {}

void BackwardKernel::launch(const BackwardArguments& arguments, Stream stream) const {
  check_arguments(spec_, arguments);
  const ForwardSpec& forward = spec_.forward;
  if (forward.dim == 0 || arguments.forward.batch == 0) return;
  BadInputReport* report = reports_->before_launch(forward.bad_ids == BadIds::report);
  BagArguments bags = bag_arguments(arguments.forward);
  GradientArguments gradients = {.output_gradient = arguments.output_gradient,
                                 .table_gradient = arguments.table_gradient};
  std::int64_t first_block = 0;
  std::array<void*, 4> parameters = {&bags, &gradients, &first_block, &report};
  const std::int64_t blocks =
      blocks_for(gradient_table_, strategy_, output_rows(forward, arguments.forward));
  launch_blocks(kernel_, strategy_, blocks, first_block, parameters, stream);
}

}  // namespace jitbag
