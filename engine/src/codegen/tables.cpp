#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "codegen/constants.hpp"
#include "codegen/kinds.hpp"
#include "codegen/own_template.hpp"
#include "codegen/source_text.hpp"
#include "jitbag/specialisation.hpp"
#include "spec/arguments.hpp"

namespace jitbag {
namespace {

using codegen::Kind;

std::string body(const TablesSpec& spec, const Kind& kind, std::size_t number) {
  return fmt::format(
      R"(
// {spec}
// {strategy}
namespace kind_{number} {{

{constants}constexpr bool bags_are_joined = {joined};
constexpr bool outputs_are_side_by_side = {side_by_side};

{body}
}}  // namespace kind_{number}
)",
      fmt::arg("spec", to_text(kind.spec)), fmt::arg("strategy", to_text(kind.strategy)),
      fmt::arg("number", number),
      fmt::arg("constants", codegen::constants(kind.spec, kind.strategy) +
                                codegen::end_constants(kind.spec.end)),
      fmt::arg("joined", spec.bags == TablesSpec::Bags::joined),
      fmt::arg("side_by_side", spec.outputs == TablesSpec::Outputs::side_by_side),
      fmt::arg("body", codegen::template_text("embedding_bag.cuh") +
                           codegen::template_text("table_block.cuh")));
}

/// What the kernel's entry leaves open: its size, and which body a block runs.
std::string choice_of_body(std::size_t kinds, const Strategy& strategy) {
  std::string words = "1";
  std::string cases;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    words = fmt::format("greater(kind_{}::shared_words, {})", kind, words);
    cases += fmt::format(
        "    case {0}:\n"
        "      return kind_{0}::pool_table_block(table, joined, block, slot, slot_bags, report, "
        "shared);\n",
        kind);
  }
  return fmt::format(
      R"(
constexpr int block_threads = {threads};
{mode}constexpr int greater(int a, int b) {{ return a > b ? a : b; }}
constexpr int shared_words = {words};

inline void pool_block(const TableEntry& table, const BagArguments& joined, const TableBlock& block,
                       int64 slot, int64 slot_bags, BadInputReport* report, uint32* shared) {{
  switch (block.kind) {{
{cases}  }}
}}

)",
      fmt::arg("threads", strategy.block_threads),
      fmt::arg("mode", codegen::launch_mode(strategy.launch_mode)), fmt::arg("words", words),
      fmt::arg("cases", cases));
}

}  // namespace

Specialisation specialise(const TablesSpec& raw, const std::vector<Strategy>& strategies,
                          const Target& target) {
  const TablesSpec spec = validated(raw);
  validate(strategies, spec, target);
  const codegen::Kinds kinds = codegen::kinds_of(spec, strategies);
  const std::string name = "embedding_bag_tables.cu";
  std::string source =
      fmt::format("// A set of {} tables of {} kinds\n// {}\n\n{}", spec.tables.size(),
                  kinds.all.size(), to_text(target), codegen::template_text("set_of_tables.cuh"));
  for (std::size_t number = 0; number < kinds.all.size(); ++number) {
    source += body(spec, kinds.all[number], number);
  }
  source += choice_of_body(kinds.all.size(), strategies[0]) + codegen::template_text(name);
  return codegen::own_template(name, "embedding_bag_tables", source, target);
}

}  // namespace jitbag
