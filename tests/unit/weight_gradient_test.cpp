#include "codegen/weight_gradient.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "catch.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"
#include "support/weight_gradient_case.hpp"
#include "tuning/weight_gradient_strategy.hpp"

namespace jitbag::test {
namespace {

constexpr std::array targets{Target{7, 5}, Target{8, 0}, Target{9, 0}, Target{10, 0},
                             Target{12, 0}};
constexpr Target h200{9, 0};

BackwardSpec weights_of_sum() {
  BackwardSpec spec;
  spec.forward.dim = 64;
  spec.forward.bags = FixedBags{4};
  spec.forward.pooling = Pooling::sum;
  spec.forward.weight_type = DataType::float32;
  spec.weight_gradient_type = DataType::float32;
  return spec;
}

/// What is said about a good strategy after a change.
std::string complaint(const std::function<void(Strategy&)>& change) {
  Strategy strategy = weight_gradient_strategy(weights_of_sum(), h200);
  change(strategy);
  return caught([&] { validate_weight_gradient(strategy, weights_of_sum(), h200); });
}

TEST_CASE("the rule for the weights' gradient is valid for every spec of its matrix") {
  for (const WeightGradientMatrixKernel& kernel : weight_gradient_matrix(seed())) {
    for (const Target& target : targets) {
      for (const auto batch : {std::optional<std::int64_t>(), std::optional<std::int64_t>(1)}) {
        const Strategy strategy = weight_gradient_strategy(kernel.spec, target, batch);
        INFO(to_text(kernel.spec) << " | " << to_text(strategy) << " | " << to_text(target));
        CHECK(caught([&] { validate_weight_gradient(strategy, kernel.spec, target); }) ==
              "nothing");
      }
    }
  }
}

TEST_CASE("a strategy in which the weights' gradient cannot be summed by a warp is refused") {
  CHECK(complaint([](Strategy&) {}) == "nothing");
  CHECK(complaint([](Strategy& strategy) {
          strategy.lanes_per_row = 3;
        }).find("lanes_per_row is 3") != std::string::npos);
  CHECK(complaint([](Strategy& strategy) {
          strategy.lanes_per_row = 16;
          strategy.bag_lanes = 4;
        }).find("4 lanes over the bag of 16 each") != std::string::npos);
}

TEST_CASE("a kernel of the weights' gradient is refused where none is asked for") {
  BackwardSpec spec = weights_of_sum();
  spec.weight_gradient_type = {};
  CHECK(caught([&] {
          static_cast<void>(weight_gradient_strategy(spec, h200));
        }).find("asks for no gradient of the weights") != std::string::npos);
}

TEST_CASE("what is made of the table's gradient does not change the kernel of the weights'") {
  BackwardSpec spec = weights_of_sum();
  const Strategy strategy = weight_gradient_strategy(spec, h200);
  const Specialisation dense = specialise_weight_gradient(spec, strategy, h200);
  spec.table_gradient = SparseGradient{};
  spec.deterministic = true;
  CHECK(specialise_weight_gradient(spec, strategy, h200) == dense);
  spec.weight_gradient_type = DataType::float16;
  CHECK_FALSE(specialise_weight_gradient(spec, strategy, h200) == dense);
}

}  // namespace
}  // namespace jitbag::test
