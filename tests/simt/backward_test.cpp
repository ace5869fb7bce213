#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "catch.hpp"
#include "check_report.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/specialisation.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "sorted_on_cpu.hpp"
#include "spec/gradient_table.hpp"
#include "support/backward_case.hpp"
#include "support/seed.hpp"
#include "support/shard.hpp"

namespace jitbag::test {
namespace {

using Scatter = void(BagArguments bags, GradientArguments gradients, long long first_block,
                     BadInputReport* report);

/// A kernel of the scatter method as the C++ compiler made it.
class ScatterOnCpu {
 public:
  ScatterOnCpu(const BackwardSpec& spec, const BackwardStrategy& strategy, const Target& target,
               std::uint64_t seed)
      : spec_(spec),
        shape_(strategy.shape),
        source_(specialise(spec, strategy, target).front()),
        kernel_(source_.source, source_.entry),
        runner_(seed) {}

  [[nodiscard]] std::string launch(const BackwardArguments& arguments, BadInputReport& report) {
    const BagArguments bags = bag_arguments(arguments.forward);
    const GradientArguments gradients = {arguments.output_gradient, arguments.table_gradient};
    auto* const entry = kernel_.entry<Scatter>();
    const std::int64_t blocks =
        blocks_for(gradient_table(spec_), shape_, output_rows(spec_.forward, arguments.forward));
    return kernel_.run(runner_,
                       {.blocks = blocks,
                        .block_threads = shape_.block_threads,
                        .threads_meet = shape_.bag_lanes > 1},
                       [&] { entry(bags, gradients, 0, &report); });
  }

 private:
  BackwardSpec spec_;
  Strategy shape_;
  Specialisation source_;
  CompiledKernel kernel_;
  BlockRunner runner_;
};

/// Launches and checks everything that was written, and was not. Returns nothing, or one sentence.
std::string check(auto& kernel, const BackwardCase& given) {
  const auto inputs = given.inputs.inputs;
  GradientArrays arrays = given.before;
  const BackwardArguments arguments = given.host_arguments(arrays);
  BadInputReport report{};
  std::string problem = kernel.launch(arguments, report);
  const bool has_one_answer =
      std::is_same_v<decltype(kernel), ScatterOnCpu&> || !given.bags_overlap();
  if (problem.empty() && has_one_answer) problem = given.check(arrays);
  if (problem.empty()) problem = check_report(given.spec.forward, arguments.forward, report);
  if (problem.empty() && given.inputs.inputs != inputs) problem = "An input was written to.";
  return problem;
}

template <class Kernel>
void check_launches(const BackwardMatrixKernel& kernel, const Target& target) {
  constexpr std::int64_t largest_batch = 60;
  Kernel on_cpu(kernel.spec, strategy_for(kernel, target), target, kernel.forward.seed);
  for (const ForwardCaseOptions& options : launches_of(kernel.forward, largest_batch)) {
    const BackwardCase given(kernel.spec, options);
    INFO(given.inputs.description);
    CHECK(check(on_cpu, given) == "");
  }
}

TEST_CASE("every kernel of the matrix computes on the CPU the gradient that the oracle says",
          "[matrix]") {
  const Shard shard;
  const auto kernels = backward_matrix(seed());
  std::cout << fmt::format("JITBAG_TEST_SEED={}: {} kernels of backward, shard {}/{}\n", seed(),
                           kernels.size(), shard.index, shard.count);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!shard.has(i)) continue;
    const Target target = i % 4 == 0 ? Target{7, 5} : Target{9, 0};
    INFO("kernel " << i << ": " << describe(kernels[i], target));
    if (kernels[i].method == BackwardMethod::scatter) {
      check_launches<ScatterOnCpu>(kernels[i], target);
    } else {
      check_launches<SortedOnCpu>(kernels[i], target);
    }
  }
}

}  // namespace
}  // namespace jitbag::test
