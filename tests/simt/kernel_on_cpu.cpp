#include "kernel_on_cpu.hpp"

#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "support/check_outputs.hpp"
#include "support/forward_matrix.hpp"

namespace jitbag::test {
namespace {

using EmbeddingBag = void(BagArguments arguments, long long first_block, BadInputReport* report);

}  // namespace

bool threads_meet(const ForwardSpec& spec, const Strategy& strategy) {
  return strategy.bag_lanes > 1 || (!spec.end.row_sum.empty() && strategy.lanes_per_row > 1);
}

KernelOnCpu::KernelOnCpu(const ForwardSpec& spec, const Strategy& strategy, const Target& target,
                         std::uint64_t seed)
    : spec_(validated(spec)),
      strategy_(strategy),
      source_(specialise(spec, strategy, target)),
      kernel_(compiled(source_)),
      runner_(seed) {}

std::string KernelOnCpu::launch(const ForwardArguments& arguments, BadInputReport& report) {
  const std::int64_t blocks = blocks_for(spec_, strategy_, output_rows(spec_, arguments));
  const std::int64_t first_part = blocks / 3;
  const std::string problem = launch_part(arguments, report, 0, first_part);
  if (!problem.empty()) return problem;
  return launch_part(arguments, report, first_part, blocks - first_part);
}

std::string KernelOnCpu::launch_part(const ForwardArguments& arguments, BadInputReport& report,
                                     std::int64_t first_block, std::int64_t blocks) {
  auto* const entry = kernel_->entry<EmbeddingBag>();
  const BagArguments with = bag_arguments(arguments);
  return kernel_->run(runner_,
                      {.blocks = blocks,
                       .block_threads = strategy_.block_threads,
                       .threads_meet = threads_meet(spec_, strategy_)},
                      [&] { entry(with, first_block, &report); });
}

std::string KernelOnCpu::check(const ForwardCase& forward_case) {
  const auto before = forward_case.inputs;
  const auto place = [](std::size_t bytes, std::int64_t alignment, std::int64_t element) {
    return PlacedArray(bytes, static_cast<std::size_t>(misalignment(alignment, element) * element));
  };
  PlacedArray output =
      place(forward_case.output_bytes(), spec_.output_alignment, size_of(spec_.output_type));
  PlacedArray winners =
      place(forward_case.winners_bytes(), size_of(spec_.id_type), size_of(spec_.id_type));
  ForwardArguments arguments = forward_case.host_arguments();
  arguments.output = output.data();
  arguments.winners = winners.data();

  BadInputReport report{};
  std::string problem = launch(arguments, report);
  if (problem.empty()) problem = check_outputs(forward_case.spec, arguments);
  if (problem.empty()) problem = check_report(forward_case.spec, arguments, report);
  if (problem.empty() && !(output.surroundings_are_poison() && winners.surroundings_are_poison())) {
    problem = "Something was written outside of the outputs.";
  }
  if (problem.empty() && forward_case.inputs != before) problem = "An input was written to.";
  return problem;
}

}  // namespace jitbag::test
