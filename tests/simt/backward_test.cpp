#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "catch.hpp"
#include "check_report.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/specialisation.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "spec/gradient_table.hpp"
#include "support/backward_case.hpp"
#include "support/seed.hpp"
#include "support/shard.hpp"

namespace jitbag::test {
namespace {

using Scatter = void(BagArguments bags, GradientArguments gradients, long long first_block,
                     BadInputReport* report);

/// A backward kernel as the C++ compiler made it.
class ScatterOnCpu {
 public:
  ScatterOnCpu(const BackwardMatrixKernel& kernel, const Target& target)
      : strategy_(strategy_for(kernel, target)),
        source_(specialise(kernel.spec, strategy_, target)),
        kernel_(source_.source, source_.entry),
        runner_(kernel.forward.seed) {}

  /// Launches and checks everything that was written, and was not. Returns nothing, or one
  /// sentence.
  [[nodiscard]] std::string check(const BackwardCase& given) {
    const auto before = given.inputs.inputs;
    PlacedArray gradient = given.gradient;
    const BackwardArguments arguments = given.host_arguments();
    const BagArguments bags = bag_arguments(arguments.forward);
    const GradientArguments gradients = {arguments.output_gradient, gradient.data()};
    BadInputReport report{};
    auto* const entry = kernel_.entry<Scatter>();
    const std::int64_t blocks = blocks_for(gradient_table(given.spec), strategy_,
                                           output_rows(given.spec.forward, arguments.forward));
    std::string problem = kernel_.run(runner_,
                                      {.blocks = blocks,
                                       .block_threads = strategy_.block_threads,
                                       .threads_meet = strategy_.bag_lanes > 1},
                                      [&] { entry(bags, gradients, 0, &report); });
    if (problem.empty()) problem = given.check(gradient);
    if (problem.empty()) problem = check_report(given.spec.forward, arguments.forward, report);
    if (problem.empty() && given.inputs.inputs != before) problem = "An input was written to.";
    return problem;
  }

 private:
  Strategy strategy_;
  Specialisation source_;
  CompiledKernel kernel_;
  BlockRunner runner_;
};

TEST_CASE("every kernel of the matrix adds on the CPU the gradient that the oracle says",
          "[matrix]") {
  constexpr std::int64_t largest_batch = 60;
  const Shard shard;
  const auto kernels = backward_matrix(seed());
  std::cout << fmt::format("JITBAG_TEST_SEED={}: {} kernels of backward, shard {}/{}\n", seed(),
                           kernels.size(), shard.index, shard.count);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!shard.has(i)) continue;
    const Target target = i % 4 == 0 ? Target{7, 5} : Target{9, 0};
    INFO("kernel " << i << ": " << describe(kernels[i], target));
    ScatterOnCpu on_cpu(kernels[i], target);
    for (const ForwardCaseOptions& options : launches_of(kernels[i].forward, largest_batch)) {
      const BackwardCase given(kernels[i].spec, options);
      INFO(given.inputs.description);
      CHECK(on_cpu.check(given) == "");
    }
  }
}

}  // namespace
}  // namespace jitbag::test
