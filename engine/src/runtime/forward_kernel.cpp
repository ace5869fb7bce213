#include <array>

#include "device/reports.hpp"
#include "jitbag/error.hpp"
#include "jitbag/kernel.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/launch_blocks.hpp"
#include "spec/arguments.hpp"

namespace jitbag {

ForwardKernel::ForwardKernel(Kernel kernel, const ForwardSpec& spec, const Strategy& strategy,
                             Reports& reports)
    : kernel_(std::move(kernel)), spec_(spec), strategy_(strategy), reports_(&reports) {}

void ForwardKernel::launch(const ForwardArguments& arguments, Stream stream) const {
  check_arguments(spec_, arguments);
  if (spec_.dim == 0 || arguments.batch == 0) return;
  BadInputReport* report = reports_->before_launch(spec_.bad_ids == BadIds::report);
  BagArguments values = bag_arguments(arguments);
  std::int64_t first_block = 0;
  std::array<void*, 3> parameters = {&values, &first_block, &report};
  const std::int64_t blocks = blocks_for(spec_, strategy_, output_rows(spec_, arguments));
  launch_blocks(kernel_, strategy_, blocks, first_block, parameters, stream);
}

}  // namespace jitbag
