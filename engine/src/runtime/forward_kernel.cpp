#include <algorithm>
#include <array>

#include "device/reports.hpp"
#include "jitbag/error.hpp"
#include "jitbag/kernel.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "spec/arguments.hpp"

namespace jitbag {

ForwardKernel::ForwardKernel(Kernel kernel, const ForwardSpec& spec, const Strategy& strategy,
                             Reports& reports)
    : kernel_(std::move(kernel)), spec_(spec), strategy_(strategy), reports_(&reports) {}

void ForwardKernel::launch(const ForwardArguments& arguments, Stream stream) const {
  check_arguments(spec_, arguments);
  if (spec_.dim == 0 || arguments.batch == 0) return;
  BadInputReport* report = nullptr;
  if (spec_.bad_ids == BadIds::report) {
    reports_->check();
    report = reports_->of_current_context();
  }
  BagArguments values = bag_arguments(arguments);
  std::int64_t first_block = 0;
  std::array<void*, 3> parameters = {&values, &first_block, &report};
  const std::int64_t blocks = blocks_for(spec_, strategy_, output_rows(spec_, arguments));
  for (; first_block < blocks; first_block += most_blocks) {
    kernel_.launch({.blocks_x = static_cast<unsigned>(std::min(blocks - first_block, most_blocks)),
                    .threads_x = static_cast<unsigned>(strategy_.block_threads),
                    .mode = strategy_.launch_mode},
                   parameters, stream);
  }
}

}  // namespace jitbag
