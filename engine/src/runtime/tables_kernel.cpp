#include <algorithm>
#include <array>

#include "device/reports.hpp"
#include "jitbag/device.hpp"
#include "jitbag/error.hpp"
#include "jitbag/tables.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/tables_grid.hpp"
#include "spec/arguments.hpp"
#include "spec/refuse.hpp"

namespace jitbag {
namespace {

template <class T>
device::Buffer uploaded(const std::vector<T>& values) {
  device::Buffer buffer(std::max<std::size_t>(values.size(), 1) * sizeof(T));
  device::copy_to_device(buffer.data(), values.data(), values.size() * sizeof(T));
  return buffer;
}

/// Throws what `check` throws, with the table's number.
template <class Check>
void check_table(std::size_t number, const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("Table {}: {}", number, error.what()));
  }
}

/// What is the set's own: the rest is joined, and checked at a launch.
void check_bound(const TablesSpec& spec, const std::vector<ForwardSpec>& specs,
                 std::span<const ForwardArguments> tables) {
  if (tables.size() != specs.size()) {
    refuse("There are arguments for {} tables in a set of {}; give one for each.", tables.size(),
           specs.size());
  }
  for (std::size_t t = 0; t < specs.size(); ++t) {
    ForwardArguments arguments = tables[t];
    if (spec.bags == TablesSpec::Bags::joined) {
      arguments.batch = 0;
      arguments.num_ids = 0;
    }
    check_table(t, [&] {
      if (spec.outputs == TablesSpec::Outputs::side_by_side) {
        check_inputs(specs[t], arguments);
      } else {
        check_arguments(specs[t], arguments);
      }
    });
  }
}

}  // namespace

struct TablesBinding::State {
  std::vector<ForwardArguments> tables;
  TablesGrid grid;
  device::Buffer entries;
  device::Buffer blocks;
};

TablesBinding::TablesBinding(std::unique_ptr<State> state) : state_(std::move(state)) {}
TablesBinding::TablesBinding(TablesBinding&&) noexcept = default;
TablesBinding& TablesBinding::operator=(TablesBinding&&) noexcept = default;
TablesBinding::~TablesBinding() = default;

TablesKernel::TablesKernel(Kernel kernel, TablesSpec spec, std::vector<Strategy> strategies,
                           std::optional<std::int64_t> expected_batch, Reports& reports)
    : kernel_(std::move(kernel)),
      spec_(std::move(spec)),
      strategies_(std::move(strategies)),
      expected_batch_(expected_batch),
      reports_(&reports) {}

TablesBinding TablesKernel::bind(std::span<const ForwardArguments> tables) const {
  check_bound(spec_, specs_within(spec_), tables);
  auto state = std::make_unique<TablesBinding::State>();
  state->tables.assign(tables.begin(), tables.end());
  state->grid = tables_grid(spec_, strategies_, expected_batch_);
  state->entries = uploaded(table_entries(spec_, tables));
  state->blocks = uploaded(state->grid.blocks);
  return TablesBinding(std::move(state));
}

void TablesKernel::launch(const TablesBinding& binding, const JoinedArguments& joined,
                          Stream stream) const {
  const TablesBinding::State& bound = binding.state();
  check_joined(spec_, joined);
  const bool reports = std::any_of(spec_.tables.begin(), spec_.tables.end(), [](const auto& table) {
    return table.bad_ids == BadIds::report;
  });
  BadInputReport* report = reports_->before_launch(reports);
  const void* entries = bound.entries.data();
  const void* blocks = bound.blocks.data();
  auto blocks_per_slot = static_cast<std::int64_t>(bound.grid.blocks.size());
  std::int64_t slot_bags = bound.grid.slot_bags;
  BagArguments values = bag_arguments({.ids = joined.ids,
                                       .num_ids = joined.num_ids,
                                       .offsets = joined.offsets,
                                       .output = joined.output,
                                       .batch = joined.batch,
                                       .weights = joined.weights});
  std::int64_t first_slot = 0;
  std::array<void*, 7> parameters = {&entries, &blocks,     &blocks_per_slot, &slot_bags,
                                     &values,  &first_slot, &report};
  if (blocks_per_slot == 0) return;
  const std::int64_t slots = slots_for(spec_, bound.grid, bound.tables, joined);
  const std::int64_t most_slots = most_blocks / blocks_per_slot;
  for (; first_slot < slots; first_slot += most_slots) {
    const std::int64_t now = std::min(slots - first_slot, most_slots);
    kernel_.launch({.blocks_x = static_cast<unsigned>(now * blocks_per_slot),
                    .threads_x = static_cast<unsigned>(strategies_[0].block_threads),
                    .mode = strategies_[0].launch_mode},
                   parameters, stream);
  }
}

}  // namespace jitbag
