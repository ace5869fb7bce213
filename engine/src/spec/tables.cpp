#include "jitbag/tables.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "spec/arguments.hpp"
#include "spec/refuse.hpp"

namespace jitbag {
namespace {

/// The validated spec of table `number`, whose errors name it.
ForwardSpec validated_table(const ForwardSpec& spec, std::size_t number) {
  try {
    return validated(spec);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("Table {}: {}", number, error.what()));
  }
}

void check_joined_bags(const TablesSpec& spec) {
  const ForwardSpec& first = spec.tables.front();
  for (std::size_t t = 1; t < spec.tables.size(); ++t) {
    const ForwardSpec& table = spec.tables[t];
    const bool both_fixed = std::holds_alternative<FixedBags>(first.bags) &&
                            std::holds_alternative<FixedBags>(table.bags);
    if (!both_fixed && table.bags != first.bags) {
      refuse(
          "Table {} has other bags than table 0, but their ids are joined; give all of them "
          "fixed bags, or the same CSR bags, or keep them separate.",
          t);
    }
    if (table.id_type != first.id_type || table.weight_type != first.weight_type) {
      refuse(
          "Table {} has ids or weights of another type than table 0, but they are joined; give "
          "all the same types, or keep them separate.",
          t);
    }
  }
  for (std::size_t t = 0; t < spec.tables.size(); ++t) {
    if (spec.tables[t].counts == Counts::on_device) {
      refuse(
          "Table {} has counts on the device, which joined bags have not; keep the bags "
          "separate.",
          t);
    }
  }
}

void check_side_by_side(const TablesSpec& spec) {
  for (std::size_t t = 0; t < spec.tables.size(); ++t) {
    const ForwardSpec& table = spec.tables[t];
    if (table.output_type != spec.tables.front().output_type) {
      refuse(
          "Table {} has {} outputs and table 0 {}, which cannot stand side by side; give all the "
          "same output_type, or keep the outputs separate.",
          t, name(table.output_type), name(spec.tables.front().output_type));
    }
    if (table.output_stride != output_width(table)) {
      refuse(
          "Table {} has the output_stride {}, but side by side the set decides that; leave it 0.",
          t, table.output_stride);
    }
    if (table.pooling.has(Pooling::none)) {
      refuse(
          "Table {} is without pooling, so that its output has no row for each bag; keep the "
          "outputs separate.",
          t);
    }
  }
}

std::int64_t joined_width(const TablesSpec& spec) {
  std::int64_t width = 0;
  for (const ForwardSpec& table : spec.tables) width += output_width(table);
  return width;
}

/// Ids of all tables in one bag, where they are fixed.
std::int64_t ids_of_a_bag(const TablesSpec& spec) {
  std::int64_t ids = 0;
  for (const ForwardSpec& table : spec.tables) {
    if (const auto* fixed = std::get_if<FixedBags>(&table.bags)) ids += fixed->size;
  }
  return ids;
}

/// What the output's alignment becomes `column` elements further on, in rows of `width`.
std::int64_t alignment_at(const ForwardSpec& table, std::int64_t column, std::int64_t width) {
  const std::int64_t bytes = size_of(table.output_type);
  return std::gcd(table.output_alignment, std::gcd(column * bytes, width * bytes));
}

const void* moved(const void* address, std::int64_t bytes) {
  return address == nullptr ? nullptr : static_cast<const std::byte*>(address) + bytes;
}

}  // namespace

TablesSpec validated(TablesSpec spec) {
  if (spec.tables.empty()) refuse("There are no tables in the set; give at least one.");
  if (!spec.expected.empty() && spec.expected.size() != spec.tables.size()) {
    refuse("There are {} expectations for {} tables; give none, or one for each.",
           spec.expected.size(), spec.tables.size());
  }
  for (std::size_t t = 0; t < spec.tables.size(); ++t) {
    spec.tables[t] = validated_table(spec.tables[t], t);
  }
  if (spec.bags == TablesSpec::Bags::joined) check_joined_bags(spec);
  if (spec.outputs == TablesSpec::Outputs::side_by_side) check_side_by_side(spec);
  return spec;
}

std::string to_text(const TablesSpec& spec) {
  std::string text =
      fmt::format("{} tables, bags {}, outputs {}", spec.tables.size(),
                  spec.bags == TablesSpec::Bags::joined ? "joined" : "separate",
                  spec.outputs == TablesSpec::Outputs::side_by_side ? "side by side" : "separate");
  for (const ForwardSpec& table : spec.tables) text += "; " + to_text(table);
  return text;
}

std::vector<ForwardSpec> specs_within(const TablesSpec& spec) {
  std::vector<ForwardSpec> specs = spec.tables;
  const std::int64_t width = joined_width(spec);
  std::int64_t column = 0;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    ForwardSpec& table = specs[t];
    if (spec.outputs == TablesSpec::Outputs::side_by_side) {
      const std::int64_t own_width = output_width(table);
      table.output_alignment = alignment_at(table, column, width);
      table.output_stride = width;
      column += own_width;
    }
    auto* csr = std::get_if<CsrBags>(&table.bags);
    if (spec.bags == TablesSpec::Bags::joined) {
      // The ids of a fixed table begin after those of the tables before it, for any batch.
      if (!csr && t > 0) table.id_alignment = size_of(table.id_type);
      // The last bag of a table ends where the next table's first begins.
      if (csr && t + 1 < specs.size()) csr->end = OffsetsEnd::included;
    }
  }
  return specs;
}

/// As one table with all the bags, of which there are none to read, with the columns of all, and
/// with the alignments that they ask of what they share.
void check_joined(const TablesSpec& spec, const JoinedArguments& joined) {
  ForwardSpec as_one = spec.tables.front();
  const bool any_narrow =
      std::any_of(spec.tables.begin(), spec.tables.end(),
                  [](const ForwardSpec& table) { return table.addressing == Addressing::bits32; });
  as_one.addressing = any_narrow ? Addressing::bits32 : Addressing::bits64;
  as_one.counts = Counts::at_launch;
  as_one.winners = false;
  as_one.table_type = DataType::float32;
  const bool begin_anywhere = std::holds_alternative<FixedBags>(as_one.bags);
  for (const ForwardSpec& table : spec.tables) {
    as_one.output_alignment = std::max(as_one.output_alignment, table.output_alignment);
    if (!begin_anywhere) as_one.id_alignment = std::max(as_one.id_alignment, table.id_alignment);
  }
  if (spec.bags == TablesSpec::Bags::joined) {
    ForwardArguments arguments{.ids = joined.ids,
                               .num_ids = joined.num_ids,
                               .offsets = joined.offsets,
                               .batch = joined.batch,
                               .weights = joined.weights};
    if (auto* fixed = std::get_if<FixedBags>(&as_one.bags)) {
      fixed->size = ids_of_a_bag(spec);
    } else if (joined.batch > 0) {
      arguments.batch *= static_cast<std::int64_t>(spec.tables.size());
    }
    as_one.output_stride = 0;
    check_inputs(as_one, arguments);
  }
  if (spec.outputs == TablesSpec::Outputs::side_by_side) {
    as_one.bags = FixedBags{0};
    as_one.output_stride = joined_width(spec);
    as_one.weight_type.reset();
    check_arguments(as_one, {.output = joined.output, .batch = joined.batch});
  }
}

std::vector<AloneTable> alone(const TablesSpec& raw, std::span<const ForwardArguments> tables,
                              const JoinedArguments& joined) {
  const TablesSpec spec = validated(raw);
  if (tables.size() != spec.tables.size()) {
    refuse("There are arguments for {} tables in a set of {}; give one for each.", tables.size(),
           spec.tables.size());
  }
  const std::vector<ForwardSpec> specs = specs_within(spec);
  std::vector<AloneTable> result;
  std::int64_t column = 0;
  std::int64_t ids_before = 0;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    AloneTable one{specs[t], tables[t]};
    ForwardArguments& arguments = one.arguments;
    if (spec.bags == TablesSpec::Bags::joined) {
      arguments.batch = joined.batch;
      arguments.num_ids = joined.num_ids;
      arguments.ids = moved(joined.ids, ids_before * size_of(one.spec.id_type));
      if (one.spec.weight_type) {
        arguments.weights = moved(joined.weights, ids_before * size_of(*one.spec.weight_type));
      }
      if (const auto* fixed = std::get_if<FixedBags>(&one.spec.bags)) {
        ids_before += joined.batch * fixed->size;
      } else {
        const auto& csr = std::get<CsrBags>(one.spec.bags);
        const auto bags_before = static_cast<std::int64_t>(t) * joined.batch;
        arguments.offsets = moved(joined.offsets, bags_before * size_of(csr.offset_type));
      }
    }
    if (spec.outputs == TablesSpec::Outputs::side_by_side) {
      arguments.output =
          const_cast<void*>(moved(joined.output, column * size_of(one.spec.output_type)));
      column += output_width(one.spec);
    }
    result.push_back(one);
  }
  return result;
}

}  // namespace jitbag
