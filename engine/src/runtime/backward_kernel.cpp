#include <utility>

#include "device/reports.hpp"
#include "jitbag/backward.hpp"
#include "runtime/launch_scatter.hpp"
#include "runtime/launch_sorted.hpp"
#include "runtime/sort_layout.hpp"
#include "spec/arguments.hpp"
#include "spec/refuse.hpp"

namespace jitbag {
namespace {

void check_workspace(const BackwardArguments& arguments, std::int64_t needed) {
  constexpr std::uintptr_t alignment = 256;
  if (arguments.workspace_bytes < needed) {
    refuse("workspace_bytes is {}, but {} are needed; ask workspace_bytes() for these arguments.",
           arguments.workspace_bytes, needed);
  }
  if (needed > 0 && (arguments.workspace == nullptr ||
                     reinterpret_cast<std::uintptr_t>(arguments.workspace) % alignment != 0)) {
    refuse("workspace is at {}; it must be memory at a multiple of 256 bytes.",
           arguments.workspace);
  }
}

}  // namespace

BackwardKernel::BackwardKernel(std::vector<Kernel> kernels, const BackwardSpec& spec,
                               const BackwardStrategy& strategy, Reports& reports)
    : kernels_(std::move(kernels)), spec_(spec), strategy_(strategy), reports_(&reports) {}

std::int64_t BackwardKernel::workspace_bytes(const BackwardArguments& arguments) const {
  return strategy_.method == BackwardMethod::sort ? SortLayout(spec_, arguments).bytes : 0;
}

void BackwardKernel::launch(const BackwardArguments& arguments, Stream stream) const {
  check_arguments(spec_, arguments);
  check_workspace(arguments, workspace_bytes(arguments));
  BadInputReport* report = reports_->before_launch(spec_.forward.bad_ids == BadIds::report);
  if (strategy_.method == BackwardMethod::scatter) {
    launch_scatter(kernels_.front(), spec_, strategy_.shape, arguments, report, stream);
  } else {
    launch_sorted(kernels_, spec_, strategy_.shape, arguments, report, stream);
  }
}

}  // namespace jitbag
