// Which strategy a kernel gets: the caller's, else wisdom's, else the built-in rule's.
#include "tuning/choose.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "jitbag/error.hpp"
#include "runtime/first_kernel.hpp"
#include "support/caught.hpp"

namespace jitbag::test {
namespace {

constexpr Target h200{9, 0};
constexpr Target t4{7, 5};
constexpr std::int64_t batch = 8192;

ForwardSpec spec_of(std::int64_t dim = 64) {
  return validated(ForwardSpec{.dim = dim,
                               .bags = FixedBags{4},
                               .table_type = DataType::float16,
                               .output_type = DataType::float16});
}

Strategy unusual(const ForwardSpec& spec) {
  Strategy strategy = default_strategy(spec, h200, batch);
  strategy.block_threads = 64;
  strategy.rows_in_flight = 2;
  return strategy;
}

BackwardSpec gradient() {
  return validated(BackwardSpec{.forward = spec_of()});
}

BackwardStrategy unusual(const BackwardSpec& spec) {
  BackwardStrategy strategy = default_strategy(spec, BackwardMethod::sort, h200);
  strategy.shape.block_threads = 64;
  return strategy;
}

TablesSpec set_of_tables() {
  return validated(TablesSpec{.tables = {spec_of(64), spec_of(128)}});
}

/// A wisdom with one finding, and what was said of it.
struct Known {
  explicit Known(const std::string& spec, std::vector<std::string> strategies) {
    wisdom.add({.spec = spec, .smallest_batch = batch, .strategies = std::move(strategies)});
  }

  auto choose(const auto& spec, const auto& choice, const Target& target = h200) {
    return jitbag::choose(spec, target, choice, wisdom,
                          [this](std::string_view sentence) { warnings.emplace_back(sentence); });
  }

  Wisdom wisdom{"NVIDIA H200"};
  std::vector<std::string> warnings;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("forward takes the caller's strategy, else wisdom's, else the rule's") {
  const ForwardSpec spec = spec_of();
  const Strategy rule = default_strategy(spec, h200, batch);
  const Strategy known = unusual(spec);
  Known with(to_text(spec), {to_text(known)});
  using Strategies = std::vector<Strategy>;
  CHECK(with.choose(spec, ForwardChoice{.expected_batch = 9000}) == Strategies{known, rule});
  const Strategy given{};
  CHECK(with.choose(spec, ForwardChoice{given, batch}) == Strategies{given});
  CHECK(with.choose(spec, ForwardChoice{}) == Strategies{default_strategy(spec, h200)});
  CHECK(with.choose(spec, ForwardChoice{.expected_batch = 100}) ==
        Strategies{default_strategy(spec, h200, 64)});
  CHECK(with.choose(spec_of(128), ForwardChoice{.expected_batch = batch}) ==
        Strategies{default_strategy(spec_of(128), h200, batch)});
  CHECK(with.warnings.empty());
}

TEST_CASE("wisdom that says what the rule says is tried once") {
  const ForwardSpec spec = spec_of();
  const Strategy rule = default_strategy(spec, h200, batch);
  CHECK(
      Known(to_text(spec), {to_text(rule)}).choose(spec, ForwardChoice{.expected_batch = batch}) ==
      std::vector{rule});
}

TEST_CASE("wisdom that does not work for spec or target gives way to the rule, with a sentence") {
  const ForwardSpec spec = spec_of();
  const auto check_ignored = [&](const std::vector<std::string>& texts, const std::string& reason,
                                 const Target& target = h200) {
    Known with(to_text(spec), texts);
    CHECK(with.choose(spec, ForwardChoice{.expected_batch = batch}, target) ==
          std::vector{default_strategy(spec, target, batch)});
    REQUIRE(with.warnings.size() == 1);
    INFO(with.warnings[0]);
    CHECK(with.warnings[0].find("The wisdom for \"" + to_text(spec) +
                                "\" on NVIDIA H200 from batch 8192 is ignored: ") == 0);
    CHECK(contains(with.warnings[0], reason));
  };
  Strategy wide = unusual(spec);
  wide.vector_bytes = 32;
  check_ignored({to_text(wide)}, "vector_bytes is 32");
  check_ignored({to_text(unusual(spec))}, "launch mode is dependent", t4);
  check_ignored({"fast"}, "\"fast\" without a value");
  check_ignored({to_text(unusual(spec)), to_text(unusual(spec))}, "2 strategies for one kernel");
}

TEST_CASE("backward takes the caller's strategy, else wisdom's, else the rule's") {
  const BackwardSpec spec = gradient();
  const BackwardStrategy known = unusual(spec);
  Known with(to_text(spec), {to_text(known)});
  using Strategies = std::vector<BackwardStrategy>;
  const BackwardStrategy rule = default_strategy(spec, h200, {batch, {}});
  CHECK(with.choose(spec, BackwardChoice{.expected_batch = batch}) == Strategies{known, rule});
  CHECK(with.choose(spec, BackwardChoice{rule, batch, {}}) == Strategies{rule});
  CHECK(with.choose(spec, BackwardChoice{}) == Strategies{default_strategy(spec, h200)});
  CHECK(with.warnings.empty());
  // Forward's wisdom is none for backward, nor the other way.
  CHECK(with.choose(spec.forward, ForwardChoice{.expected_batch = batch}).size() == 1);
  Known invalid(to_text(spec), {to_text(known.shape)});
  CHECK(invalid.choose(spec, BackwardChoice{.expected_batch = batch}) == Strategies{rule});
  CHECK(invalid.warnings.size() == 1);
}

TEST_CASE("where the caller knows how ids repeat, the rule is asked and not wisdom") {
  const BackwardSpec spec = gradient();
  Known with(to_text(spec), {to_text(unusual(spec))});
  CHECK(with.choose(spec, BackwardChoice{{}, batch, 0.5}) ==
        std::vector{default_strategy(spec, h200, {batch, 0.5})});
  CHECK(with.choose(spec, BackwardChoice{{}, batch, 0.5}).front().method == BackwardMethod::merge);
}

TEST_CASE("a set of tables takes wisdom's strategies, one for each table, or the rule's") {
  const TablesSpec spec = set_of_tables();
  const std::vector<Strategy> rule = default_strategies(spec, h200, batch);
  std::vector<Strategy> known = rule;
  for (Strategy& strategy : known) strategy.block_threads = 256;
  const TablesChoice choice{.expected_batch = batch};
  using Sets = std::vector<std::vector<Strategy>>;
  Known with(to_text(spec), {to_text(known[0]), to_text(known[1])});
  CHECK(with.choose(spec, choice) == Sets{known, rule});
  CHECK(with.choose(spec, TablesChoice{rule, batch}) == Sets{rule});
  CHECK(with.warnings.empty());

  Known short_of_one(to_text(spec), {to_text(known[0])});
  CHECK(short_of_one.choose(spec, choice) == Sets{rule});
  REQUIRE(short_of_one.warnings.size() == 1);
  CHECK(contains(short_of_one.warnings[0], "1 strategies for 2 tables"));
  Known unequal(to_text(spec), {to_text(known[0]), to_text(rule[1])});
  CHECK(unequal.choose(spec, choice) == Sets{rule});
  CHECK(unequal.warnings.size() == 1);
}

TEST_CASE("without a compiler the rule's kernel serves where wisdom's is in no cache") {
  const auto make = [](ErrorKind kind) {
    return [kind](const int& strategy) {
      if (strategy == 1) throw Error(kind, "no");
      return strategy * 10;
    };
  };
  CHECK(first_kernel(std::vector{2, 1}, make(ErrorKind::missing_library)) == 20);
  CHECK(first_kernel(std::vector{1, 2}, make(ErrorKind::missing_library)) == 20);
  CHECK(caught([&] { first_kernel(std::vector{1}, make(ErrorKind::missing_library)); }) ==
        "missing_library: no");
  CHECK(caught([&] {
          first_kernel(std::vector{1, 2}, make(ErrorKind::compile_failed));
        }) == "compile_failed: no");
}

}  // namespace jitbag::test
