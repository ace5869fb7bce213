#include "codegen/weight_gradient.hpp"

#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <iostream>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "check_report.hpp"
#include "compiled_kernel.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "support/seed.hpp"
#include "support/shard.hpp"
#include "support/weight_gradient_case.hpp"
#include "tuning/weight_gradient_strategy.hpp"
#include "weight_gradient_arguments.cuh"

namespace jitbag::test {
namespace {

using WeightGradientEntry = void(BagArguments bags, WeightGradientArguments gradients,
                                 long long first_block, BadInputReport* report);

/// A kernel of the gradient of the weights as the C++ compiler made it.
class WeightGradientOnCpu {
 public:
  WeightGradientOnCpu(const BackwardSpec& spec, const Strategy& strategy, const Target& target,
                      std::uint64_t seed)
      : strategy_(strategy),
        source_(specialise_weight_gradient(spec, strategy, target)),
        kernel_(source_.source, source_.entry),
        runner_(seed) {}

  /// Launches, in two parts, and checks everything that was written, and was not. Returns nothing,
  /// or one sentence.
  [[nodiscard]] std::string check(const WeightGradientCase& given) {
    PlacedArray weight_gradient = given.before;
    const auto inputs = given.of_table.inputs.inputs;
    const PlacedArray output_gradient = given.of_table.output_gradient;
    const BackwardArguments arguments = given.host_arguments(weight_gradient);
    BadInputReport report{};
    std::string problem = launch(arguments, report);
    if (problem.empty()) problem = given.check(weight_gradient);
    if (problem.empty()) problem = check_report(given.spec.forward, arguments.forward, report);
    if (problem.empty() && (given.of_table.inputs.inputs != inputs ||
                            given.of_table.output_gradient != output_gradient)) {
      problem = "An input was written to.";
    }
    return problem;
  }

  [[nodiscard]] std::string launch(const BackwardArguments& arguments, BadInputReport& report) {
    const std::int64_t blocks = divided_up(arguments.forward.batch, rows_per_block(strategy_));
    const std::int64_t first_part = blocks / 3;
    std::string problem = launch_part(arguments, report, 0, first_part);
    return problem.empty() ? launch_part(arguments, report, first_part, blocks - first_part)
                           : problem;
  }

 private:
  [[nodiscard]] std::string launch_part(const BackwardArguments& arguments, BadInputReport& report,
                                        std::int64_t first_block, std::int64_t blocks) {
    const BagArguments bags = bag_arguments(arguments.forward);
    const WeightGradientArguments gradients = {arguments.output_gradient,
                                               arguments.weight_gradient};
    auto* const entry = kernel_.entry<WeightGradientEntry>();
    return kernel_.run(runner_,
                       {.blocks = blocks,
                        .block_threads = strategy_.block_threads,
                        .threads_meet = strategy_.lanes_per_row * strategy_.bag_lanes > 1},
                       [&] { entry(bags, gradients, first_block, &report); });
  }

  Strategy strategy_;
  Specialisation source_;
  CompiledKernel kernel_;
  BlockRunner runner_;
};

TEST_CASE("every kernel of the matrix computes on the CPU the weights' gradient of the oracle",
          "[matrix]") {
  constexpr std::int64_t largest_batch = 60;
  const Shard shard;
  const auto kernels = weight_gradient_matrix(seed());
  std::cout << fmt::format(
      "JITBAG_TEST_SEED={}: {} kernels of the weights' gradient, shard {}/{}\n", seed(),
      kernels.size(), shard.index, shard.count);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!shard.has(i)) continue;
    const Target target = i % 4 == 0 ? Target{7, 5} : Target{9, 0};
    INFO("kernel " << i << ": " << describe(kernels[i], target));
    WeightGradientOnCpu on_cpu(kernels[i].spec, strategy_for(kernels[i], target), target,
                               kernels[i].forward.seed);
    for (const ForwardCaseOptions& options : launches_of(kernels[i], largest_batch)) {
      const WeightGradientCase given(kernels[i].spec, options);
      INFO(given.of_table.inputs.description);
      CHECK(on_cpu.check(given) == "");
    }
  }
}

TEST_CASE(
    "columns that a row does not have, of a byte or of a lane, are neither read nor multiplied") {
  for (const DataType table_type : {DataType::int8, DataType::int4}) {
    BackwardSpec spec;
    spec.forward.dim = 3;
    spec.forward.bags = FixedBags{1};
    spec.forward.pooling = Pooling::sum;
    spec.forward.table_type = table_type;
    spec.forward.row_scale = {.place = RowScale::Place::apart, .has_bias = false};
    spec.forward.alignment = 1;
    spec.forward.output_alignment = 4;
    spec.forward.weight_type = DataType::float32;
    spec.table_gradient = std::monostate{};
    spec.weight_gradient_type = DataType::float32;
    const Target target{9, 0};
    Strategy strategy = weight_gradient_strategy(spec, target);
    strategy.vector_bytes = 1;
    strategy.lanes_per_row = 4;
    strategy.vectors_per_lane = 1;
    WeightGradientOnCpu on_cpu(spec, strategy, target, seed());

    // Its codes are 1, times infinity; 0 in the place of a column would be a NaN.
    const std::vector<std::uint8_t> table = table_type == DataType::int8
                                                ? std::vector<std::uint8_t>{1, 1, 1}
                                                : std::vector<std::uint8_t>{0x11, 0x01};
    const std::vector<float> scales{std::numeric_limits<float>::infinity()};
    const std::vector<std::int64_t> ids{0};
    const std::vector<float> weights{1};
    const std::vector<float> output_gradient{1, 1, 1};  // a sanitizer sees what is read behind it
    std::vector<float> gradient{0};
    BackwardArguments arguments;
    arguments.forward = {.table = table.data(),
                         .num_rows = 1,
                         .ids = ids.data(),
                         .batch = 1,
                         .weights = weights.data(),
                         .scales = scales.data()};
    arguments.output_gradient = output_gradient.data();
    arguments.weight_gradient = gradient.data();
    BadInputReport report{};
    CHECK(on_cpu.launch(arguments, report) == "");
    CHECK(gradient[0] == std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("weights of rows without columns have the gradient 0") {
  BackwardSpec spec;
  spec.forward.dim = 0;
  spec.forward.bags = CsrBags{};
  spec.forward.pooling = Pooling::sum;
  spec.forward.weight_type = DataType::float32;
  spec.table_gradient = std::monostate{};
  spec.weight_gradient_type = DataType::float32;
  const Target target{9, 0};
  WeightGradientOnCpu on_cpu(spec, weight_gradient_strategy(spec, target), target, seed());
  ForwardCaseOptions options;
  options.spec = spec.forward;
  options.batch = 10;
  options.num_rows = 5;
  options.seed = seed();
  CHECK(on_cpu.check(WeightGradientCase(spec, options)) == "");
}

}  // namespace
}  // namespace jitbag::test
