#include "runtime/tables_grid.hpp"

#include <algorithm>
#include <bit>

#include "codegen/kinds.hpp"
#include "runtime/forward_grid.hpp"
#include "spec/arguments.hpp"
#include "tuning/expected_rows.hpp"

namespace jitbag {
namespace {

/// Bags of a slot: enough that every table has whole blocks of work, few enough that the blocks of
/// all tables are mixed. No more than the batch that is expected.
std::int64_t bags_of_slot(std::optional<std::int64_t> expected_batch) {
  constexpr std::uint64_t most = 256;
  if (!expected_batch || *expected_batch < 1) return most;
  return static_cast<std::int64_t>(
      std::min(most, std::bit_ceil(static_cast<std::uint64_t>(*expected_batch))));
}

/// A block with the bytes that it is expected to move.
struct WeighedBlock {
  TableBlock block;
  double bytes;
};

}  // namespace

TablesGrid tables_grid(const TablesSpec& spec, const std::vector<Strategy>& strategies,
                       std::optional<std::int64_t> expected_batch) {
  TablesGrid grid;
  grid.slot_bags = bags_of_slot(expected_batch);
  const codegen::Kinds kinds = codegen::kinds_of(spec, strategies);
  std::vector<WeighedBlock> blocks;
  for (std::size_t t = 0; t < spec.tables.size(); ++t) {
    const ForwardSpec& table = spec.tables[t];
    const std::int64_t rows = rows_per_block(strategies[t]);
    const std::int64_t tiles = tiles_of(table, strategies[t]);
    const double row_bytes_moved =
        static_cast<double>(row_bytes(table)) / static_cast<double>(tiles);
    for (std::int64_t bag = 0; bag < grid.slot_bags; bag += rows) {
      const auto bags = static_cast<double>(std::min(rows, grid.slot_bags - bag));
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        blocks.push_back({{.table = static_cast<int>(t),
                           .kind = kinds.of_table[t],
                           .first_bag = static_cast<int>(bag),
                           .tile = static_cast<int>(tile)},
                          bags * (expected_rows_of_bag(spec, t) + 1) * row_bytes_moved});
      }
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const WeighedBlock& a, const WeighedBlock& b) { return a.bytes > b.bytes; });
  for (const WeighedBlock& weighed : blocks) grid.blocks.push_back(weighed.block);
  return grid;
}

std::vector<TableEntry> table_entries(const TablesSpec& spec,
                                      std::span<const ForwardArguments> tables) {
  std::vector<TableEntry> entries;
  long long ids_before = 0;
  long long columns_before = 0;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    entries.push_back({.arguments = bag_arguments(tables[t]),
                       .ids_before = ids_before,
                       .columns_before = columns_before});
    if (const auto* fixed = std::get_if<FixedBags>(&spec.tables[t].bags)) ids_before += fixed->size;
    columns_before += output_width(spec.tables[t]);
  }
  return entries;
}

std::int64_t slots_for(const TablesSpec& spec, const TablesGrid& grid,
                       std::span<const ForwardArguments> tables, const JoinedArguments& joined) {
  std::int64_t rows = 0;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    ForwardArguments arguments = tables[t];
    if (spec.bags == TablesSpec::Bags::joined) {
      arguments.batch = joined.batch;
      arguments.num_ids = joined.num_ids;
    }
    rows = std::max(rows, output_rows(spec.tables[t], arguments));
  }
  return divided_up(rows, grid.slot_bags);
}

}  // namespace jitbag
