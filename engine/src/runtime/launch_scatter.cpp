#include "runtime/launch_scatter.hpp"

#include <array>

#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/launch_blocks.hpp"
#include "spec/arguments.hpp"

namespace jitbag {

void launch_scatter(const Kernel& kernel, const BackwardSpec& spec, const ForwardSpec& table,
                    const Strategy& shape, const BackwardArguments& arguments,
                    BadInputReport* report, Stream stream) {
  if (spec.forward.dim == 0) return;
  BagArguments bags = bag_arguments(arguments.forward);
  GradientArguments gradients = {.output_gradient = arguments.output_gradient,
                                 .table_gradient = arguments.table_gradient};
  std::int64_t first_block = 0;
  std::array<void*, 4> parameters = {&bags, &gradients, &first_block, &report};
  const std::int64_t blocks =
      blocks_for(table, shape, output_rows(spec.forward, arguments.forward));
  launch_blocks(kernel, shape, blocks, first_block, parameters, stream);
}

}  // namespace jitbag
