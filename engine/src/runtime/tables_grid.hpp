#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jitbag/strategy.hpp"
#include "jitbag/tables.hpp"
#include "runtime/bag_arguments.hpp"

namespace jitbag {

/// How the work of a set is dealt out. Bags come in slots of `slot_bags`; for each slot the kernel
/// runs the same list of blocks, the heaviest first, so that a batch of any size finds its blocks
/// without a search.
struct TablesGrid {
  std::int64_t slot_bags = 0;
  std::vector<TableBlock> blocks;
};

/// For a validated set.
[[nodiscard]] TablesGrid tables_grid(const TablesSpec& spec,
                                     const std::vector<Strategy>& strategies,
                                     std::optional<std::int64_t> expected_batch);

/// The tables as the kernel reads them.
[[nodiscard]] std::vector<TableEntry> table_entries(const TablesSpec& spec,
                                                    std::span<const ForwardArguments> tables);

/// Slots that the largest of the tables takes. `alone_rows` is the most output rows that a table
/// has by itself; bags that are joined have `joined_batch` each.
[[nodiscard]] std::int64_t slots_for(const TablesSpec& spec, const TablesGrid& grid,
                                     std::span<const ForwardArguments> tables,
                                     const JoinedArguments& joined);

}  // namespace jitbag
