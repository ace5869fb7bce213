#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "jitbag/specialisation.hpp"
#include "support/backward_case.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"
#include "tuning/weight_gradient_shape.hpp"

namespace jitbag::test {
namespace {

constexpr std::array targets{Target{7, 5}, Target{8, 0}, Target{9, 0}, Target{10, 0},
                             Target{12, 0}};
constexpr Target h200{9, 0};

BackwardSpec weights_of_sum(const TableGradient& table_gradient) {
  BackwardSpec spec;
  spec.forward.dim = 64;
  spec.forward.bags = FixedBags{4};
  spec.forward.pooling = Pooling::sum;
  spec.forward.weight_type = DataType::float32;
  spec.table_gradient = table_gradient;
  spec.weight_gradient_type = DataType::float32;
  return spec;
}

std::vector<Specialisation> kernels_of(const BackwardSpec& spec) {
  return specialise(spec, default_strategy(spec, h200), h200);
}

TEST_CASE("the lanes of the weights' gradient are valid for every spec, and meet in a warp") {
  for (const BackwardMatrixKernel& kernel : backward_matrix(seed())) {
    if (!kernel.spec.weight_gradient_type) continue;
    for (const Target& target : targets) {
      const LaunchMode mode = default_strategy(kernel.spec, target).shape.launch_mode;
      const Strategy shape = weight_gradient_shape(kernel.spec, mode);
      INFO(to_text(kernel.spec) << " | " << to_text(shape) << " | " << to_text(target));
      CHECK(caught([&] { validate(shape, kernel.spec.forward, target); }) == "nothing");
      CHECK(std::has_single_bit(static_cast<unsigned>(shape.lanes_per_row)));
      CHECK(shape.lanes_per_row * shape.bag_lanes <= 32);
    }
  }
}

TEST_CASE("the lanes of the weights' gradient over a fixed bag have four rows or more each") {
  const auto bag_lanes = [](std::int64_t dim, const BagLayout& bags) {
    BackwardSpec spec = weights_of_sum(DenseGradient{});
    spec.forward.dim = dim;
    spec.forward.bags = bags;
    return weight_gradient_shape(validated(spec), LaunchMode::plain).bag_lanes;
  };
  CHECK(bag_lanes(4, FixedBags{0}) == 1);
  CHECK(bag_lanes(4, FixedBags{7}) == 1);
  CHECK(bag_lanes(4, FixedBags{8}) == 2);
  CHECK(bag_lanes(4, FixedBags{50}) == 2);
  CHECK(bag_lanes(4, FixedBags{1 << 20}) == 32);
  CHECK(bag_lanes(64, FixedBags{1 << 20}) == 2);
  CHECK(bag_lanes(1000, FixedBags{1 << 20}) == 1);
  CHECK(bag_lanes(4, CsrBags{}) == 1);
}

TEST_CASE("the kernel of the weights' gradient is the first, whatever is made of the table's") {
  const std::vector<Specialisation> alone = kernels_of(weights_of_sum(std::monostate{}));
  REQUIRE(alone.size() == 1);
  for (const TableGradient& gradient :
       std::vector<TableGradient>{DenseGradient{}, DenseGradient{DataType::float16},
                                  SparseGradient{}, AppliedGradient{}}) {
    for (const bool deterministic : {false, true}) {
      BackwardSpec spec = weights_of_sum(gradient);
      spec.deterministic = deterministic;
      INFO(to_text(validated(spec)));
      std::vector<Specialisation> kernels = kernels_of(spec);
      CHECK(kernels.front() == alone.front());
      kernels.erase(kernels.begin());
      spec.weight_gradient_type = {};
      CHECK((kernels == kernels_of(spec)));
    }
  }
  BackwardSpec narrow = weights_of_sum(std::monostate{});
  narrow.weight_gradient_type = DataType::float16;
  CHECK_FALSE(kernels_of(narrow).front() == alone.front());
}

TEST_CASE("the text of a spec says the type of the weights' gradient") {
  const auto text = [](const TableGradient& gradient) {
    return to_text(validated(weights_of_sum(gradient)));
  };
  CHECK_THAT(text(std::monostate{}),
             Catch::Matchers::StartsWith("gradient=none weight_gradient=float32 of embedding_bag"));
  CHECK_THAT(text(SparseGradient{}),
             Catch::Matchers::StartsWith("gradient=sparse:float32 weight_gradient=float32 of "));
}

TEST_CASE("the weights' gradient alone is launched at once, for a batch of any size") {
  const BackwardSpec spec = weights_of_sum(std::monostate{});
  const BackwardStrategy strategy = default_strategy(spec, h200, {.batch = std::int64_t{1} << 24});
  CHECK(strategy.method == BackwardMethod::scatter);
  CHECK(caught([&] { validate(strategy, spec, h200); }) == "nothing");
  const BackwardStrategy sorted = default_strategy(spec, BackwardMethod::sort, h200);
  CHECK_THAT(caught([&] { validate(sorted, spec, h200); }),
             Catch::Matchers::StartsWith("invalid_argument: The method is sort for \"gradient="));
}

}  // namespace
}  // namespace jitbag::test
