#include <algorithm>
#include <cmath>

#include "jitbag/strategy.hpp"
#include "jitbag/tables.hpp"
#include "spec/arguments.hpp"
#include "spec/refuse.hpp"
#include "tuning/expected_rows.hpp"
#include "tuning/rows_that_fit.hpp"

namespace jitbag {
namespace {

/// Rows that a group gathers at least, of one bag or of several: a block that does less is over
/// before it has paid for finding its table.
constexpr double rows_per_group = 16;

/// As many groups as an H200 can hold; a batch that has not as many bags for each of them gives a
/// group fewer.
constexpr std::int64_t groups_that_fill = std::int64_t{132} * 128;

constexpr int most_rows_in_flight = 8;

/// All blocks of a launch have one size.
constexpr int common_block_threads = 128;

}  // namespace

std::vector<Strategy> default_strategies(const TablesSpec& raw, const Target& target,
                                         std::optional<std::int64_t> expected_batch) {
  const TablesSpec spec = validated(raw);
  const std::vector<ForwardSpec> specs = specs_within(spec);
  std::vector<Strategy> strategies;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    Strategy strategy = default_strategy(specs[t], target);
    strategy.block_threads = common_block_threads;
    const double bags = std::floor(rows_per_group / std::max(1.0, expected_rows_of_bag(spec, t)));
    const auto tables = static_cast<std::int64_t>(specs.size());
    const std::int64_t most =
        expected_batch ? std::max<std::int64_t>(1, *expected_batch * tables / groups_that_fill)
                       : static_cast<std::int64_t>(rows_per_group);
    strategy.bags_per_group = static_cast<int>(std::clamp<std::int64_t>(
        static_cast<std::int64_t>(bags), 1, std::min<std::int64_t>(most, 16)));
    strategy.rows_in_flight = rows_that_fit(specs[t], strategy, most_rows_in_flight);
    strategies.push_back(strategy);
  }
  return strategies;
}

void validate(const std::vector<Strategy>& strategies, const TablesSpec& raw,
              const Target& target) {
  const std::vector<ForwardSpec> specs = specs_within(validated(raw));
  if (strategies.size() != specs.size()) {
    refuse("There are {} strategies for {} tables; give one for each.", strategies.size(),
           specs.size());
  }
  for (std::size_t t = 0; t < specs.size(); ++t) {
    validate(strategies[t], specs[t], target);
    if (strategies[t].block_threads != strategies[0].block_threads ||
        strategies[t].launch_mode != strategies[0].launch_mode) {
      refuse(
          "The strategy of table {} is \"{}\" and that of table 0 \"{}\"; in one launch all "
          "blocks have the same size and launch mode.",
          t, to_text(strategies[t]), to_text(strategies[0]));
    }
  }
}

}  // namespace jitbag
