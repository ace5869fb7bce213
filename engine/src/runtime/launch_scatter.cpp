#include "runtime/launch_scatter.hpp"

#include <array>

#include "runtime/enqueue_marks.hpp"
#include "runtime/launch_blocks.hpp"
#include "runtime/sorted_on_gpu.hpp"

namespace jitbag {

void launch_scatter(std::span<const Kernel> kernels, const BackwardSpec& spec,
                    const ForwardSpec& table, const Strategy& shape, const MarkLayout* layout,
                    const BackwardArguments& arguments, BadInputReport* report, Stream stream) {
  if (layout != nullptr) {
    const SortedOnGpu gpu(kernels, shape.launch_mode, stream);
    enqueue_marks(gpu, spec, *layout, arguments);
  }
  if (spec.forward.dim == 0) return;
  BagArguments bags = bag_arguments(arguments.forward);
  GradientArguments gradients = gradient_arguments(spec, layout, arguments);
  std::int64_t first_block = 0;
  std::array<void*, 4> parameters = {&bags, &gradients, &first_block, &report};
  const std::int64_t blocks =
      blocks_for(table, shape, output_rows(spec.forward, arguments.forward));
  launch_blocks(kernels.back(), shape, blocks, first_block, parameters, stream);
}

}  // namespace jitbag
