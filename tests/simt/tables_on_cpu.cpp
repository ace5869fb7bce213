#include "tables_on_cpu.hpp"

#include <algorithm>

#include "kernel_on_cpu.hpp"
#include "runtime/tables_grid.hpp"

namespace jitbag::test {
namespace {

using EmbeddingBagTables = void(const TableEntry* tables, const TableBlock* blocks,
                                long long blocks_per_slot, long long slot_bags, BagArguments joined,
                                long long first_slot, BadInputReport* report);

}  // namespace

TablesOnCpu::TablesOnCpu(const TablesSpec& spec, const std::vector<Strategy>& strategies,
                         const Target& target, std::optional<std::int64_t> expected_batch,
                         std::uint64_t seed)
    : spec_(validated(spec)),
      strategies_(strategies),
      expected_batch_(expected_batch),
      source_(specialise(spec, strategies, target)),
      kernel_(compiled(source_)),
      runner_(seed) {}

std::string TablesOnCpu::launch(const std::vector<ForwardArguments>& tables,
                                const JoinedArguments& joined, BadInputReport& report) {
  const TablesGrid grid = tables_grid(spec_, strategies_, expected_batch_);
  const std::vector<TableEntry> entries = table_entries(spec_, tables);
  const auto blocks_per_slot = static_cast<std::int64_t>(grid.blocks.size());
  const std::int64_t slots = slots_for(spec_, grid, tables, joined);
  const BagArguments all = bag_arguments({.table = nullptr,
                                          .ids = joined.ids,
                                          .num_ids = joined.num_ids,
                                          .offsets = joined.offsets,
                                          .output = joined.output,
                                          .batch = joined.batch,
                                          .weights = joined.weights});
  bool any_meet = false;
  for (std::size_t t = 0; t < strategies_.size(); ++t) {
    any_meet |= threads_meet(spec_.tables[t], strategies_[t]);
  }
  auto* const entry = kernel_->entry<EmbeddingBagTables>();
  std::int64_t first_slot = 0;
  for (const std::int64_t end : {slots / 3, slots}) {
    const std::string problem =
        kernel_->run(runner_,
                     {.blocks = (end - first_slot) * blocks_per_slot,
                      .block_threads = strategies_.front().block_threads,
                      .threads_meet = any_meet},
                     [&] {
                       entry(entries.data(), grid.blocks.data(), blocks_per_slot, grid.slot_bags,
                             all, first_slot, &report);
                     });
    if (!problem.empty()) return problem;
    first_slot = end;
  }
  return {};
}

}  // namespace jitbag::test
