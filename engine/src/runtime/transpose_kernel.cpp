#include <utility>

#include "device/reports.hpp"
#include "jitbag/transpose.hpp"
#include "runtime/enqueue_transpose.hpp"
#include "runtime/sort_layout.hpp"
#include "runtime/sorted_on_gpu.hpp"
#include "spec/arguments.hpp"
#include "spec/gradient_table.hpp"
#include "spec/transpose_spec.hpp"

namespace jitbag {
namespace {

SortLayout layout_of(const BackwardSpec& sorting, const TransposeArguments& arguments) {
  return {sorting, gradient_table(sorting), sorting_of(arguments)};
}

}  // namespace

TransposeKernel::TransposeKernel(std::vector<Kernel> kernels, const TransposeSpec& spec,
                                 LaunchMode launch_mode, Reports& reports)
    : kernels_(std::move(kernels)),
      spec_(spec),
      sorting_(sorting_of(spec)),
      launch_mode_(launch_mode),
      reports_(&reports) {}

std::int64_t TransposeKernel::workspace_bytes(const TransposeArguments& arguments) const {
  return layout_of(sorting_, arguments).bytes;
}

void TransposeKernel::launch(const TransposeArguments& arguments, Stream stream) const {
  check_arguments(spec_, arguments);
  const SortLayout layout = layout_of(sorting_, arguments);
  check_workspace(arguments.workspace, arguments.workspace_bytes, layout.bytes);
  SortedOnGpu gpu(kernels_, launch_mode_, stream);
  enqueue_transpose(gpu, spec_, sorting_, layout, arguments,
                    reports_->before_launch(spec_.bad_ids == BadIds::report));
}

}  // namespace jitbag
