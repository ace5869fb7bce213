#include "transpose_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "bags.hpp"
#include "elements.hpp"
#include "seed.hpp"
#include "spec/transpose_spec.hpp"

namespace jitbag::test {
namespace {

/// One id that counts.
struct Use {
  std::int64_t row, bag, position;
};

/// The last bag that has the position.
std::optional<std::int64_t> holder(const Bags& bags, std::int64_t position) {
  for (std::int64_t bag = bags.batch() - 1; bag >= 0; --bag) {
    if (bags.bag(bag).has(position)) return bag;
  }
  return {};
}

std::vector<Use> uses_by_row(const Bags& bags) {
  std::vector<Use> uses;
  for (std::int64_t position = 0; position < bags.num_ids(); ++position) {
    const auto bag = holder(bags, position);
    if (bag && bags.is_counted(position)) uses.push_back({bags.id(position), *bag, position});
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const Use& a, const Use& b) { return a.row < b.row; });
  return uses;
}

std::int64_t rows_of(const std::vector<Use>& uses) {
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    rows += i == 0 || uses[i].row != uses[i - 1].row ? 1 : 0;
  }
  return rows;
}

/// Integers of one type in an array.
struct Integers {
  PlacedArray& array;
  IntegerType type;

  void put(std::int64_t at, std::int64_t value) const {
    store_integer(array.data() + at * size_of(type), type, value);
  }
};

PlacedArray room_for(std::int64_t count, std::int64_t element_bytes) {
  return {static_cast<std::size_t>(count * element_bytes), static_cast<std::size_t>(element_bytes)};
}

void expect(const TransposeCase& given, const std::vector<Use>& uses, std::int64_t ids,
            TransposeOutputs& to) {
  const IntegerType index = given.spec.index_type;
  const Integers rows{to.rows, given.spec.id_type}, begins{to.begins, index};
  const Integers bags{to.bags_by_row, index}, positions{to.positions_by_row, index};
  const Integers inverse{to.inverse, index};
  for (std::int64_t position = 0; position < ids; ++position) inverse.put(position, -1);
  begins.put(0, 0);
  std::int64_t row = -1;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const bool is_new = i == 0 || uses[i].row != uses[i - 1].row;
    row += is_new ? 1 : 0;
    const bool has_room = row < given.capacity;
    if (has_room) {
      rows.put(row, uses[i].row);
      begins.put(row + 1, at + 1);
      inverse.put(uses[i].position, row);
    }
    bags.put(at, uses[i].bag);
    positions.put(at, uses[i].position);
    if (!given.spec.weight_type) continue;
    const std::int64_t bytes = size_of(*given.spec.weight_type);
    std::memcpy(to.weights_by_row.data() + at * bytes,
                given.inputs.input(Input::weights).data() + uses[i].position * bytes,
                static_cast<std::size_t>(bytes));
  }
  to.count.rows = std::min(row + 1, given.capacity);
  to.count.missing = row + 1 - to.count.rows;
  to.count.ids = static_cast<std::int64_t>(uses.size());
}

ForwardCase inputs_of(const TransposeSpec& spec, ForwardCaseOptions options) {
  options.spec = bags_of(spec);
  options.ids_misalignment = 1;
  return make_forward_case(options);
}

}  // namespace

std::vector<TransposeSpec> transpose_specs() {
  return {{.bags = FixedBags{5}, .padding_id = 0, .weight_type = DataType::float32},
          {.bags = CsrBags{.offset_type = IntegerType::int32},
           .id_type = IntegerType::int32,
           .bad_ids = BadIds::report,
           .weight_type = DataType::float16,
           .index_type = IntegerType::int64},
          {.bags = CsrBags{.end = OffsetsEnd::implied},
           .padding_id = -1,
           .counts = Counts::on_device,
           .weight_type = DataType::float64},
          {.bags = FixedBags{3},
           .id_type = IntegerType::int32,
           .padding_id = 1,
           .bad_ids = BadIds::trust,
           .counts = Counts::on_device}};
}

std::vector<PlacedArray*> TransposeOutputs::arrays() {
  return {&rows, &begins, &bags_by_row, &positions_by_row, &weights_by_row, &inverse};
}

TransposeCase::TransposeCase(const TransposeSpec& given, const ForwardCaseOptions& options,
                             std::int64_t spare)
    : spec(validated(given)), inputs(inputs_of(spec, options)) {
  const ForwardArguments forward = inputs.host_arguments();
  const std::vector<Use> uses = uses_by_row(Bags(inputs.spec, forward));
  const std::int64_t ids = num_ids(inputs.spec, forward);
  const std::int64_t index_bytes = size_of(spec.index_type);
  capacity = std::max<std::int64_t>(0, rows_of(uses) + spare);
  before.rows = room_for(capacity, size_of(spec.id_type));
  before.begins = room_for(capacity + 1, index_bytes);
  before.bags_by_row = room_for(ids, index_bytes);
  before.positions_by_row = room_for(ids, index_bytes);
  before.inverse = room_for(ids, index_bytes);
  if (spec.weight_type) before.weights_by_row = room_for(ids, size_of(*spec.weight_type));
  expected = before;
  expect(*this, uses, ids, expected);
  description =
      fmt::format("{} | {} room for {} rows", to_text(spec), inputs.description, capacity);
}

TransposeArguments TransposeCase::host_arguments(TransposeOutputs& outputs) const {
  return {.forward = inputs.host_arguments(),
          .capacity = capacity,
          .rows = outputs.rows.data(),
          .count = &outputs.count,
          .begins = outputs.begins.data(),
          .bags_by_row = outputs.bags_by_row.data(),
          .positions_by_row = outputs.positions_by_row.data(),
          .weights_by_row = outputs.weights_by_row.data(),
          .inverse = outputs.inverse.data()};
}

std::string TransposeCase::check(TransposeOutputs after) const {
  constexpr std::array names{"rows",           "begins", "bags_by_row", "positions_by_row",
                             "weights_by_row", "inverse"};
  TransposeOutputs wanted = expected;
  const auto actual_arrays = after.arrays();
  const auto wanted_arrays = wanted.arrays();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& actual = actual_arrays[i]->buffer;
    const auto& right = wanted_arrays[i]->buffer;
    if (actual == right) continue;
    const auto differs = std::mismatch(actual.begin(), actual.end(), right.begin(), right.end());
    return fmt::format(
        "{} is wrong from byte {} of {} on.", names[i],
        differs.first - actual.begin() - static_cast<std::ptrdiff_t>(actual_arrays[i]->begin),
        actual_arrays[i]->bytes);
  }
  const TransposeCount& right = expected.count;
  if (after.count.rows == right.rows && after.count.missing == right.missing &&
      after.count.ids == right.ids) {
    return {};
  }
  return fmt::format("count is {}, {}, {} instead of {}, {}, {}.", after.count.rows,
                     after.count.missing, after.count.ids, right.rows, right.missing, right.ids);
}

std::vector<TransposeCase> transpose_cases(const TransposeSpec& spec, std::int64_t largest_batch) {
  struct Size {
    std::int64_t batch, num_rows, spare;
  };
  constexpr std::array sizes{Size{0, 5, 2},     Size{1, 1, 1},          Size{3, 40, -2},
                             Size{20, 0, 1},    Size{700, 1, 0},        Size{700, 30, 3},
                             Size{700, 700, 0}, Size{700, 70'000, -100}};
  std::vector<TransposeCase> cases;
  for (const Size& size : sizes) {
    if (size.num_rows == 0 && spec.bad_ids == BadIds::trust) continue;
    ForwardCaseOptions options;
    options.batch = std::min(size.batch, largest_batch);
    options.num_rows = size.num_rows;
    options.broken_offsets = spec.bad_ids != BadIds::trust && size.num_rows % 4 != 0;
    options.poison_after = size.spare % 2 == 0;
    options.spare_bags = spec.counts == Counts::on_device ? size.num_rows % 3 : 0;
    options.seed = seed() + cases.size();
    cases.emplace_back(spec, options, size.spare);
  }
  return cases;
}

}  // namespace jitbag::test
