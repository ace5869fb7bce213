#include "backward_on_cpu.hpp"

#include <algorithm>

#include "check_report.hpp"
#include "jitbag/specialisation.hpp"
#include "runtime/enqueue_marks.hpp"
#include "runtime/enqueue_sorted.hpp"
#include "spec/gradient_table.hpp"
#include "support/placed_array.hpp"
#include "tuning/weight_gradient_shape.hpp"
#include "weight_gradient_arguments.cuh"

namespace jitbag::test {
namespace {

using Scatter = void(BagArguments bags, GradientArguments gradients, long long first_block,
                     BadInputReport* report);
using WeightGradient = void(BagArguments bags, WeightGradientArguments gradients,
                            long long first_block, BadInputReport* report);

/// In two launches, as where one grid cannot have all blocks. `launch` takes the first of them and
/// how many.
template <class Launch>
std::string launch_in_parts(std::int64_t blocks, Launch launch) {
  const std::string problem = launch(0, blocks / 3);
  return problem.empty() ? launch(blocks / 3, blocks - blocks / 3) : problem;
}

}  // namespace

BackwardOnCpu::BackwardOnCpu(const BackwardSpec& spec, const BackwardStrategy& strategy,
                             const Target& target, std::uint64_t seed)
    : spec_(validated(spec)),
      table_(gradient_table(spec_)),
      strategy_(strategy),
      of_table_(compiled(specialise(spec, strategy, target))),
      runner_(seed) {
  if (spec_.weight_gradient_type) {
    of_weights_ = of_table_.front();
    of_table_.erase(of_table_.begin());
  }
}

std::string BackwardOnCpu::launch(const BackwardArguments& arguments, BadInputReport& report) {
  std::string problem;
  if (of_weights_ != nullptr) problem = launch_weight_gradient(arguments, report);
  if (!problem.empty() || of_table_.empty()) return problem;
  return strategy_.method == BackwardMethod::sort ? launch_sorted(arguments, report)
                                                  : launch_scatter(arguments, report);
}

std::string BackwardOnCpu::check(const BackwardCase& given) {
  const auto inputs = given.inputs.inputs;
  const PlacedArray output_gradient = given.output_gradient;
  GradientArrays arrays = given.before;
  const BackwardArguments arguments = given.host_arguments(arrays);
  BadInputReport report{};
  std::string problem = launch(arguments, report);
  if (problem.empty()) problem = given.check(arrays, strategy_.method);
  if (problem.empty()) problem = check_report(given.spec.forward, arguments.forward, report);
  if (problem.empty() &&
      (given.inputs.inputs != inputs || given.output_gradient != output_gradient)) {
    problem = "An input was written to.";
  }
  return problem;
}

std::string BackwardOnCpu::launch_weight_gradient(const BackwardArguments& arguments,
                                                  BadInputReport& report) {
  const Strategy shape = weight_gradient_shape(spec_, strategy_.shape.launch_mode);
  const BagArguments bags = bag_arguments(arguments.forward);
  const WeightGradientArguments gradients = {arguments.output_gradient, arguments.weight_gradient};
  auto* const entry = of_weights_->entry<WeightGradient>();
  const std::int64_t all = divided_up(arguments.forward.batch, rows_per_block(shape));
  return launch_in_parts(all, [&](std::int64_t first_block, std::int64_t blocks) {
    return of_weights_->run(runner_,
                            {.blocks = blocks,
                             .block_threads = shape.block_threads,
                             .threads_meet = shape.lanes_per_row * shape.bag_lanes > 1},
                            [&] { entry(bags, gradients, first_block, &report); });
  });
}

std::string BackwardOnCpu::launch_scatter(BackwardArguments arguments, BadInputReport& report) {
  const std::optional<MarkLayout> layout = mark_layout(spec_, arguments);
  PlacedArray workspace(layout ? static_cast<std::size_t>(layout->bytes) : 0, 0);
  arguments.workspace = workspace.data();
  MachineOnCpu cpu{of_table_, runner_, {}};
  if (layout) enqueue_marks(cpu, spec_, *layout, arguments);
  if (!cpu.problem.empty()) return cpu.problem;
  if (!workspace.surroundings_are_poison()) {
    return "Something was written outside of the workspace.";
  }
  if (spec_.forward.dim == 0) return {};

  const Strategy& shape = strategy_.shape;
  const BagArguments bags = bag_arguments(arguments.forward);
  const GradientArguments gradients =
      gradient_arguments(spec_, layout ? &*layout : nullptr, arguments);
  const CompiledKernel& kernel = *of_table_.back();
  auto* const entry = kernel.entry<Scatter>();
  const std::int64_t rows = output_rows(spec_.forward, arguments.forward);
  const std::int64_t all = blocks_for(table_, shape, rows);
  return launch_in_parts(all, [&](std::int64_t first_block, std::int64_t blocks) {
    return kernel.run(
        runner_,
        {.blocks = blocks,
         .block_threads = shape.block_threads,
         .threads_meet = shape.bag_lanes > 1 || strategy_.method == BackwardMethod::merge},
        [&] { entry(bags, gradients, first_block, &report); });
  });
}

std::string BackwardOnCpu::launch_sorted(BackwardArguments arguments, BadInputReport& report) {
  const SortLayout layout(spec_, table_, arguments);
  PlacedArray workspace(static_cast<std::size_t>(layout.bytes), 0);
  arguments.workspace = workspace.data();
  arguments.workspace_bytes = layout.bytes;
  MachineOnCpu cpu{of_table_, runner_, {}};
  enqueue_sorted(cpu, spec_, table_, strategy_.shape, layout, arguments, &report);
  if (cpu.problem.empty() && !workspace.surroundings_are_poison()) {
    return "Something was written outside of the workspace.";
  }
  return cpu.problem;
}

}  // namespace jitbag::test
