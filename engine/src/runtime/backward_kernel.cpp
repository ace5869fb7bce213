#include <optional>
#include <utility>

#include "device/reports.hpp"
#include "jitbag/backward.hpp"
#include "runtime/launch_scatter.hpp"
#include "runtime/launch_sorted.hpp"
#include "runtime/launch_weight_gradient.hpp"
#include "runtime/mark_layout.hpp"
#include "runtime/sort_layout.hpp"
#include "spec/arguments.hpp"
#include "spec/gradient_table.hpp"
#include "tuning/weight_gradient_shape.hpp"

namespace jitbag {

BackwardKernel::BackwardKernel(std::vector<Kernel> kernels, const BackwardSpec& spec,
                               const BackwardStrategy& strategy, Reports& reports)
    : kernels_(std::move(kernels)),
      spec_(spec),
      gradient_table_(gradient_table(spec)),
      strategy_(strategy),
      reports_(&reports) {
  if (spec.weight_gradient_type) {
    weight_shape_ = weight_gradient_shape(spec, strategy.shape.launch_mode);
  }
}

std::int64_t BackwardKernel::workspace_bytes(const BackwardArguments& arguments) const {
  if (strategy_.method == BackwardMethod::sort) {
    return SortLayout(spec_, gradient_table_, arguments).bytes;
  }
  const std::optional<MarkLayout> marks = mark_layout(spec_, arguments);
  return marks ? marks->bytes : 0;
}

void BackwardKernel::launch(const BackwardArguments& arguments, Stream stream) const {
  check_arguments(spec_, arguments);
  std::optional<SortLayout> sort;
  std::optional<MarkLayout> marks;
  if (strategy_.method == BackwardMethod::sort) {
    sort.emplace(spec_, gradient_table_, arguments);
  } else {
    marks = mark_layout(spec_, arguments);
  }
  check_workspace(arguments.workspace, arguments.workspace_bytes,
                  sort    ? sort->bytes
                  : marks ? marks->bytes
                          : 0);
  BadInputReport* const report = reports_->before_launch(spec_.forward.bad_ids == BadIds::report);
  std::span<const Kernel> of_table = kernels_;
  if (weight_shape_) {
    // Before the rows, which a step changes.
    launch_weight_gradient(of_table.front(), *weight_shape_, arguments, report, stream);
    of_table = of_table.subspan(1);
  }
  if (sort) {
    launch_sorted(of_table, spec_, gradient_table_, strategy_.shape, *sort, arguments, report,
                  stream);
  } else if (!of_table.empty()) {
    launch_scatter(of_table, spec_, gradient_table_, strategy_.shape, marks ? &*marks : nullptr,
                   arguments, report, stream);
  }
}

}  // namespace jitbag
