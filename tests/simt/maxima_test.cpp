// Maxima where elements are equal or NaN, whatever the shape of the group that looks for them.
#include <array>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "kernel_on_cpu.hpp"
#include "support/forward_case.hpp"
#include "support/forward_matrix.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

constexpr Target target{9, 0};
constexpr std::int64_t dim = 6;
constexpr std::int64_t num_rows = 30;
constexpr std::int64_t bag_size = 40;
constexpr std::int64_t batch = 20;

/// Elements of which most equal one in another row, and in the first two columns some NaNs.
std::vector<double> elements_that_tie() {
  std::vector<double> elements;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    for (std::int64_t column = 0; column < dim; ++column) {
      const bool is_nan = (column == 0 && row % 4 == 1) || (column == 1 && row == 7);
      elements.push_back(is_nan ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(-((row * 5 + column) % 3)));
    }
  }
  return elements;
}

ForwardCase case_of(const ForwardSpec& spec) {
  Random random(seed());
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> offsets;
  for (std::int64_t bag = 0; bag < batch; ++bag) {
    offsets.push_back(static_cast<std::int64_t>(ids.size()));
    for (std::int64_t i = 0; i < bag_size; ++i) ids.push_back(random.below(num_rows + 2));
  }
  offsets.push_back(static_cast<std::int64_t>(ids.size()));
  ForwardCase made = make_forward_case({.spec = spec, .batch = batch, .num_rows = num_rows},
                                       {.ids = ids, .offsets = offsets});
  made.input(Input::table) = place_elements(elements_that_tie(), spec.table_type, 0, true);
  return made;
}

TEST_CASE("the first of equal elements wins, and the first NaN over all, in groups of any shape") {
  const std::array<BagLayout, 2> layouts{FixedBags{bag_size}, CsrBags{}};
  for (const BagLayout& bags : layouts) {
    for (const bool winners : {true, false}) {
      const ForwardSpec spec = validated(
          {.dim = dim, .bags = bags, .pooling = Pooling::max, .winners = winners, .padding_id = 3});
      const ForwardCase forward_case = case_of(spec);
      for (const StrategyShape shape :
           {StrategyShape::rule, StrategyShape::two_bag_lanes, StrategyShape::eight_bag_lanes,
            StrategyShape::warp_over_bag, StrategyShape::two_warps_a_group,
            StrategyShape::bags_and_bag_lanes}) {
        const Strategy strategy = strategy_for({spec, shape, 5}, target);
        INFO(to_text(spec) << " | " << to_text(strategy));
        CHECK(KernelOnCpu(spec, strategy, target, seed()).check(forward_case) == "");
      }
    }
  }
}

}  // namespace
}  // namespace jitbag::test
