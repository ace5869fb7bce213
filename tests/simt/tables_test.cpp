#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <map>
#include <memory>

#include "catch.hpp"
#include "kernel_on_cpu.hpp"
#include "support/seed.hpp"
#include "support/shard.hpp"
#include "tables_on_cpu.hpp"

namespace jitbag::test {
namespace {

constexpr Target target{9, 0};

using Joining = TablesSpec::Bags;
using Outputs = TablesSpec::Outputs;

/// The kernels of single tables, each compiled once.
class AloneKernels {
 public:
  KernelOnCpu& of(const ForwardSpec& spec, const Strategy& strategy) {
    auto& kernel = kernels_[to_text(spec) + to_text(strategy)];
    if (!kernel) kernel = std::make_unique<KernelOnCpu>(spec, strategy, target, 1);
    return *kernel;
  }

 private:
  std::map<std::string, std::unique_ptr<KernelOnCpu>> kernels_;
};

/// Launches every table of the case by itself.
std::string launch_alone(const TablesCase& tables_case, const std::vector<Strategy>& strategies,
                         TablesOutputs& outputs, AloneKernels& kernels) {
  const auto tables = alone(tables_case.spec, outputs.tables(), outputs.joined());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    BadInputReport report{};
    std::string problem =
        kernels.of(tables[t].spec, strategies[t]).launch(tables[t].arguments, report);
    if (!problem.empty()) return problem;
  }
  return {};
}

/// Launches the set and compares with the oracle, with what is to be reported and with each table
/// by itself. Returns nothing, or one sentence.
std::string check_set(TablesOnCpu& kernel, const TablesCase& tables_case,
                      const std::vector<Strategy>& strategies, AloneKernels& kernels) {
  TablesOutputs together(tables_case);
  BadInputReport report{};
  std::string problem = kernel.launch(together.tables(), together.joined(), report);
  if (problem.empty()) problem = together.check();
  if (problem.empty()) problem = check_report(first_bad_input(tables_case), report);
  if (!problem.empty()) return problem;
  TablesOutputs by_itself(tables_case);
  problem = launch_alone(tables_case, strategies, by_itself, kernels);
  return problem.empty() ? together.difference_from(by_itself) : problem;
}

TEST_CASE("many tables in one launch give what the oracle says, and the bits of each by itself",
          "[tables]") {
  const Shard shard;
  std::cout << fmt::format("JITBAG_TEST_SEED={}\n", seed());
  std::size_t number = 0;
  for (const auto bags : {Joining::separate, Joining::joined}) {
    for (const auto outputs : {Outputs::separate, Outputs::side_by_side}) {
      for (const std::size_t count : {2, 4, 12}) {
        if (!shard.has(number++)) continue;
        Random random(seed() + number);
        const TablesSpec spec = random_tables(count, bags, outputs, random);
        const std::vector<Strategy> strategies =
            count == 2 ? default_strategies(spec, target) : random_strategies(spec, target, random);
        constexpr std::int64_t expected_batch = 10;
        INFO(to_text(spec));
        TablesOnCpu kernel(spec, strategies, target, expected_batch, random.number());
        AloneKernels kernels;
        for (const std::int64_t batch : {0, 1, 37}) {
          const TablesCase tables_case =
              make_tables_case({.spec = spec, .batch = batch, .seed = random.number()});
          INFO("batch " << batch);
          CHECK(check_set(kernel, tables_case, strategies, kernels) == "");
        }
      }
    }
  }
}

/// Four kinds of tables, over and over.
TablesSpec many_tables(std::size_t count, Joining bags, Outputs outputs) {
  TablesSpec spec{.tables = {}, .bags = bags, .outputs = outputs, .expected = {}};
  for (std::size_t t = 0; t < count; ++t) {
    ForwardSpec table;
    table.dim = t % 4 == 3 ? 5 : 8;
    table.bags = CsrBags{};
    table.pooling = t % 2 == 0 ? Pooling::sum : Pooling::max;
    table.table_type = t % 4 < 2 ? DataType::float16 : DataType::float32;
    table.padding_id = 0;
    spec.tables.push_back(table);
  }
  return spec;
}

TEST_CASE("1000 tables of four kinds in one launch", "[tables]") {
  for (const auto bags : {Joining::separate, Joining::joined}) {
    const TablesSpec spec = validated(many_tables(1000, bags, Outputs::side_by_side));
    constexpr std::int64_t batch = 5;
    const auto strategies = default_strategies(spec, target, batch);
    TablesOnCpu kernel(spec, strategies, target, batch, 1);
    AloneKernels kernels;
    const TablesCase tables_case =
        make_tables_case({.spec = spec, .batch = batch, .most_rows = 9, .seed = seed()});
    CHECK(check_set(kernel, tables_case, strategies, kernels) == "");
  }
}

TEST_CASE("of a set's bad input that of the lowest table is reported, with its number",
          "[tables]") {
  for (const auto bags : {Joining::separate, Joining::joined}) {
    TablesSpec spec = many_tables(6, bags, Outputs::separate);
    for (const std::size_t reporting : {2, 4, 5}) spec.tables[reporting].bad_ids = BadIds::report;
    const auto strategies = default_strategies(spec, target, 20);
    TablesOnCpu kernel(spec, strategies, target, 20, 1);
    const TablesCase tables_case = make_tables_case({.spec = spec, .batch = 20, .seed = seed()});
    const auto expected = first_bad_input(tables_case);
    REQUIRE(expected);
    CHECK(expected->table == 2);
    TablesOutputs outputs(tables_case);
    BadInputReport report{};
    CHECK(kernel.launch(outputs.tables(), outputs.joined(), report) == "");
    CHECK(check_report(expected, report) == "");
    CHECK(outputs.check() == "");
  }
}

}  // namespace
}  // namespace jitbag::test
