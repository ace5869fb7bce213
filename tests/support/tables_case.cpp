#include "tables_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "bags.hpp"
#include "check_outputs.hpp"
#include "elements.hpp"
#include "forward_matrix.hpp"

namespace jitbag::test {
namespace {

bool is_joined(const TablesSpec& spec) {
  return spec.bags == TablesSpec::Bags::joined;
}

bool is_side_by_side(const TablesSpec& spec) {
  return spec.outputs == TablesSpec::Outputs::side_by_side;
}

bool is_bag_input(Input input) {
  return input == Input::ids || input == Input::offsets || input == Input::weights;
}

std::int64_t width_of(const TablesSpec& spec) {
  std::int64_t width = 0;
  for (const ForwardSpec& table : spec.tables) width += output_width(table);
  return width;
}

PlacedArray misaligned(std::size_t bytes, std::int64_t alignment, std::int64_t element) {
  return {bytes, static_cast<std::size_t>(misalignment(alignment, element) * element)};
}

std::vector<std::int64_t> integers_of(const PlacedArray& array, IntegerType type) {
  std::vector<std::int64_t> values;
  const auto size = static_cast<std::size_t>(size_of(type));
  for (std::size_t i = 0; i < array.bytes / size; ++i) {
    values.push_back(load_integer(array.data() + i * size, type));
  }
  return values;
}

std::vector<double> elements_of(const PlacedArray& array, DataType type) {
  std::vector<double> values;
  const auto size = static_cast<std::size_t>(size_of(type));
  for (std::size_t i = 0; i < array.bytes / size; ++i) {
    values.push_back(load_element(array.data() + i * size, type));
  }
  return values;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Moves the bags of all tables into arrays that they share.
void join_bags(TablesCase& made) {
  const ForwardSpec& first = made.spec.tables.front();
  const auto* csr = std::get_if<CsrBags>(&first.bags);
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> offsets;
  std::vector<double> weights;
  for (ForwardCase& table : made.tables) {
    if (csr != nullptr) {
      auto own = integers_of(table.input(Input::offsets), csr->offset_type);
      own.resize(static_cast<std::size_t>(made.batch));
      for (const std::int64_t offset : own) {
        offsets.push_back(offset + static_cast<std::int64_t>(ids.size()));
      }
    }
    append(ids, integers_of(table.input(Input::ids), first.id_type));
    if (first.weight_type) {
      append(weights, elements_of(table.input(Input::weights), *first.weight_type));
    }
    for (const Input input : {Input::ids, Input::offsets, Input::weights}) {
      table.input(input) = {};
    }
  }
  if (csr != nullptr && csr->end == OffsetsEnd::included) {
    offsets.push_back(static_cast<std::int64_t>(ids.size()));
  }
  made.num_ids = static_cast<std::int64_t>(ids.size());
  made.joined.resize(input_arrays);
  const auto joined = [&](Input input) -> PlacedArray& {
    return made.joined[static_cast<std::size_t>(input)];
  };
  std::int64_t alignment = first.id_alignment;
  for (const ForwardSpec& table : made.spec.tables) {
    if (csr != nullptr) alignment = std::max(alignment, table.id_alignment);
  }
  joined(Input::ids) =
      place_integers(ids, first.id_type, misalignment(alignment, size_of(first.id_type)), true);
  if (csr != nullptr) joined(Input::offsets) = place_integers(offsets, csr->offset_type, 1, true);
  if (first.weight_type) {
    joined(Input::weights) = place_elements(weights, *first.weight_type, 1, true);
  }
}

ForwardCaseOptions table_options(const TablesCaseOptions& options, const ForwardSpec& table,
                                 Random& random) {
  ForwardCaseOptions made;
  made.spec = table;
  made.batch = is_joined(options.spec) || random.chance(0.3) ? options.batch
                                                             : random.below(options.batch + 1);
  made.num_rows = 1 + random.below(options.most_rows);
  made.longest_bag = options.longest_bag;
  made.table_misalignment = misalignment(table.alignment, size_of(table.table_type));
  made.ids_misalignment = misalignment(table.id_alignment, size_of(table.id_type));
  made.ids_outside_bags = !is_joined(options.spec);
  if (table.counts == Counts::on_device) made.spare_bags = random.below(4);
  made.seed = random.number();
  return made;
}

/// Changes a kernel of the matrix until it can stand in a set beside the first one.
void conform(ForwardSpec& table, const ForwardSpec& first, TablesSpec::Bags bags,
             TablesSpec::Outputs outputs) {
  const auto set_pooling = [&](Pooling pooling) {
    table.pooling = pooling;
    table.winners = false;
    table.mean_length = 0;
    table.output_stride = 0;
  };
  if (bags == TablesSpec::Bags::joined) {
    const bool both_fixed = std::holds_alternative<FixedBags>(table.bags) &&
                            std::holds_alternative<FixedBags>(first.bags);
    if (!both_fixed) table.bags = first.bags;
    table.id_type = first.id_type;
    table.id_alignment = 0;
    table.weight_type = first.weight_type;
    table.counts = Counts::at_launch;
    if (table.padding_id && *table.padding_id < 0) table.padding_id = 1;
    const bool needs_weights = table.pooling.has(Pooling::mean_by_weights);
    const bool has_no_use = !table.winners && (table.pooling == Poolings(Pooling::max) ||
                                               table.pooling == Poolings(Pooling::none));
    if (needs_weights && !table.weight_type) set_pooling(Pooling::sum);
    if ((has_no_use || table.winners) && table.weight_type) set_pooling(Pooling::mean);
  }
  if (outputs == TablesSpec::Outputs::side_by_side) {
    table.output_type = first.output_type;
    table.output_alignment = std::max(table.output_alignment, size_of(first.output_type));
    if (table.pooling.has(Pooling::none)) set_pooling(Pooling::sum);
    table.output_stride = 0;
  }
}

bool fits(const Strategy& strategy, const ForwardSpec& spec, const Target& target) {
  try {
    validate(strategy, spec, target);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<ForwardArguments> TablesCase::arguments(
    const std::function<const void*(std::size_t table, Input)>& address) const {
  std::vector<ForwardArguments> made;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    made.push_back(tables[t].arguments([&](Input input) -> const void* {
      return is_joined(spec) && is_bag_input(input) ? nullptr : address(t, input);
    }));
    if (is_joined(spec)) made.back().batch = made.back().num_ids = 0;
  }
  return made;
}

JoinedArguments TablesCase::joined_arguments(
    const std::function<const void*(Input)>& address) const {
  JoinedArguments made;
  made.batch = batch;
  if (!is_joined(spec)) return made;
  made.ids = address(Input::ids);
  made.num_ids = num_ids;
  made.offsets = address(Input::offsets);
  made.weights = address(Input::weights);
  return made;
}

TablesCase make_tables_case(const TablesCaseOptions& options) {
  Random random(options.seed);
  std::vector<ForwardCase> tables;
  for (const ForwardSpec& table : validated(options.spec).tables) {
    tables.push_back(make_forward_case(table_options(options, table, random)));
  }
  return make_tables_case(options.spec, std::move(tables));
}

TablesCase make_tables_case(const TablesSpec& spec, std::vector<ForwardCase> tables) {
  TablesCase made;
  made.spec = validated(spec);
  made.tables = std::move(tables);
  for (const ForwardCase& table : made.tables) made.batch = std::max(made.batch, table.batch);
  if (is_joined(made.spec)) join_bags(made);
  return made;
}

TablesOutputs::TablesOutputs(const TablesCase& tables_case) : case_(&tables_case) {
  const TablesSpec& spec = tables_case.spec;
  // Without pooling a table has a row for every id that it shares with others.
  for (const AloneTable& table : alone(spec, inputs(), joined_inputs())) {
    const ForwardSpec& own = table.spec;
    const std::int64_t winners_bytes = table.arguments.batch * own.dim * size_of(own.id_type);
    arrays_.push_back(is_side_by_side(spec)
                          ? PlacedArray{}
                          : misaligned(output_bytes(own, table.arguments), own.output_alignment,
                                       size_of(own.output_type)));
    arrays_.push_back(
        own.winners ? misaligned(static_cast<std::size_t>(winners_bytes), 1, size_of(own.id_type))
                    : PlacedArray{});
  }
  if (is_side_by_side(spec)) {
    std::int64_t alignment = 1;
    for (const ForwardSpec& table : spec.tables) {
      alignment = std::max(alignment, table.output_alignment);
    }
    const std::int64_t element = size_of(spec.tables.front().output_type);
    const std::int64_t bytes = tables_case.batch * width_of(spec) * element;
    arrays_.push_back(misaligned(static_cast<std::size_t>(bytes), alignment, element));
  }
}

std::vector<ForwardArguments> TablesOutputs::inputs() const {
  return case_->arguments(
      [&](std::size_t t, Input input) { return case_->tables[t].input(input).data(); });
}

JoinedArguments TablesOutputs::joined_inputs() const {
  return case_->joined_arguments(
      [&](Input input) { return case_->joined[static_cast<std::size_t>(input)].data(); });
}

std::vector<ForwardArguments> TablesOutputs::tables() {
  auto made = inputs();
  for (std::size_t t = 0; t < made.size(); ++t) {
    made[t].output = output(t).data();
    made[t].winners = winners(t).data();
  }
  return made;
}

JoinedArguments TablesOutputs::joined() {
  JoinedArguments made = joined_inputs();
  if (is_side_by_side(case_->spec)) made.output = arrays_.back().data();
  return made;
}

/// Copies a table's columns out of those of all, since gaps are not poison there.
std::string TablesOutputs::check_columns(const AloneTable& table) const {
  ForwardSpec spec = table.spec;
  const std::int64_t element = size_of(spec.output_type);
  const std::int64_t width = output_width(spec);
  const auto stride = static_cast<std::size_t>(spec.output_stride * element);
  PlacedArray columns(static_cast<std::size_t>(table.arguments.batch * width * element), 0);
  for (std::int64_t bag = 0; bag < table.arguments.batch; ++bag) {
    std::memcpy(columns.data() + bag * width * element,
                static_cast<const std::byte*>(table.arguments.output) + bag * stride,
                static_cast<std::size_t>(width * element));
  }
  spec.output_stride = 0;
  ForwardArguments arguments = table.arguments;
  arguments.output = columns.data();
  return check_outputs(validated(spec), arguments);
}

std::string TablesOutputs::check() {
  const auto all = tables();
  const auto alone_tables = alone(case_->spec, all, joined());
  for (std::size_t t = 0; t < alone_tables.size(); ++t) {
    const AloneTable& table = alone_tables[t];
    const std::string problem = is_side_by_side(case_->spec)
                                    ? check_columns(table)
                                    : check_outputs(table.spec, table.arguments);
    if (!problem.empty()) {
      return fmt::format("Table {}: {} ({})", t, problem, to_text(table.spec));
    }
  }
  for (const PlacedArray& array : arrays_) {
    if (!array.surroundings_are_poison()) return "Something was written outside of the outputs.";
  }
  return {};
}

std::string TablesOutputs::difference_from(const TablesOutputs& other) const {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i] == other.arrays_[i]) continue;
    return i < 2 * case_->tables.size()
               ? fmt::format("Table {} has other {} than by itself.", i / 2,
                             i % 2 == 0 ? "outputs" : "winners")
               : "The outputs of all tables are not those of each by itself.";
  }
  return {};
}

std::optional<BadInput> first_bad_input(const TablesCase& tables_case) {
  TablesOutputs outputs(tables_case);
  const auto alone_tables = alone(tables_case.spec, outputs.tables(), outputs.joined());
  for (std::size_t t = 0; t < alone_tables.size(); ++t) {
    if (alone_tables[t].spec.bad_ids != BadIds::report) continue;
    auto bad = Bags(alone_tables[t].spec, alone_tables[t].arguments).first_bad_input();
    if (!bad) continue;
    bad->table = static_cast<std::int64_t>(t);
    return bad;
  }
  return {};
}

TablesSpec random_tables(std::size_t count, TablesSpec::Bags bags, TablesSpec::Outputs outputs,
                         Random& random) {
  constexpr std::int64_t widest = 130;
  const auto kernels = forward_matrix(1);
  TablesSpec spec{.tables = {}, .bags = bags, .outputs = outputs, .expected = {}};
  while (spec.tables.size() < count) {
    ForwardSpec table = random.one_of(kernels).spec;
    const auto* fixed = std::get_if<FixedBags>(&table.bags);
    if (table.dim > widest || (fixed != nullptr && fixed->size > 40)) continue;
    const ForwardSpec first = spec.tables.empty() ? table : spec.tables.front();
    conform(table, first, bags, outputs);
    spec.tables.push_back(table);
  }
  return validated(spec);
}

std::vector<Strategy> random_strategies(const TablesSpec& spec, const Target& target,
                                        Random& random) {
  std::vector<Strategy> strategies;
  const std::vector<ForwardSpec> specs = specs_within(spec);
  for (const ForwardSpec& table : specs) {
    constexpr int shapes = static_cast<int>(StrategyShape::bags_and_bag_lanes) + 1;
    Strategy strategy;
    do {
      const MatrixKernel kernel{table, static_cast<StrategyShape>(random.below(shapes)),
                                random.number()};
      strategy = strategy_for(kernel, target);
      strategy.block_threads = 256;
      strategy.launch_mode = LaunchMode::plain;
    } while (!fits(strategy, table, target));
    strategies.push_back(strategy);
  }
  return strategies;
}

}  // namespace jitbag::test
