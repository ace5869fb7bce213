#include "runtime/launch_sorted.hpp"

#include "runtime/enqueue_sorted.hpp"
#include "runtime/sorted_on_gpu.hpp"

namespace jitbag {

void launch_sorted(std::span<const Kernel> kernels, const BackwardSpec& spec,
                   const ForwardSpec& table, const Strategy& shape, const SortLayout& layout,
                   const BackwardArguments& arguments, BadInputReport* report, Stream stream) {
  SortedOnGpu gpu(kernels, shape.launch_mode, stream);
  enqueue_sorted(gpu, spec, table, shape, layout, arguments, report);
}

}  // namespace jitbag
