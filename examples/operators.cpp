// Every option of the operator in small numbers, on the GPU where there is one, else on the CPU.
// docs/operators.md explains them: each line that is printed here stands there.
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "jitbag/jitbag.hpp"
#include "machine.hpp"

namespace {

using namespace jitbag;
using Floats = std::vector<float>;
using Ids = std::vector<std::int64_t>;

constexpr std::int64_t num_rows = 5, dim = 2;
const Floats rows = {9,  9,    // row 0, padding in most of what follows
                     1,  40,   // row 1
                     2,  20,   // row 2
                     6,  -10,  // row 3
                     -1, 5};   // row 4

/// "sum: 7 30 | 0 0", a bar before each further row of `width` values.
template <class T>
void print(const std::string& what, const std::vector<T>& values, std::size_t width = dim) {
  std::printf("%s:", what.c_str());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::printf("%s %g", i > 0 && i % width == 0 ? " |" : "", static_cast<double>(values[i]));
  }
  std::printf("\n");
}

void print_bytes(const std::string& what, const std::vector<std::uint8_t>& bytes) {
  std::printf("%s:", what.c_str());
  for (const unsigned byte : bytes) std::printf(" %02x", byte);
  std::printf("\n");
}

/// What the output holds after the launch, where `before` was in it.
template <class T = float>
std::vector<T> pooled(Machine& machine, const ForwardSpec& spec, ForwardArguments arguments,
                      const std::vector<T>& before) {
  T* const output = machine.put(before);
  arguments.output = output;
  machine.forward(spec, arguments);
  return machine.get(output, before.size());
}

void poolings(Machine& machine) {
  const ForwardArguments one_bag = {.table = machine.put(rows),
                                    .num_rows = num_rows,
                                    .ids = machine.put(Ids{1, 3, 0, 2, 2}),
                                    .batch = 1,
                                    .weights = machine.put(Floats{1, 2, 9, 0.5F, 1.5F})};
  const auto show = [&](Poolings pooling, std::int64_t mean_length = 0, bool weighted = false) {
    const ForwardSpec spec = {
        .dim = dim,
        .bags = FixedBags{.size = 5},
        .pooling = pooling,
        .mean_length = mean_length,
        .weight_type = weighted ? std::optional(DataType::float32) : std::nullopt,
        .padding_id = 0};
    std::string what = weighted ? "weighted" : "";
    for (const Pooling each : pooling) what += (what.empty() ? "" : " ") + std::string(name(each));
    print(what, pooled(machine, spec, one_bag, Floats(output_width(spec))), output_width(spec));
  };
  show(Pooling::sum);
  show(Pooling::mean);
  show(Pooling::mean_by_length, 10);
  show(Pooling::mean_by_sqrt);
  show(Pooling::max);
  show({Pooling::sum, Pooling::mean, Pooling::max});
  show(Pooling::sum, 0, true);
  show(Pooling::mean, 0, true);
  show(Pooling::mean_by_weights, 0, true);
}

void winners(Machine& machine) {
  std::int64_t* const winners = machine.put(Ids(dim));
  const Floats largest = pooled(machine,
                                {.dim = dim,
                                 .bags = FixedBags{.size = 5},
                                 .pooling = Pooling::max,
                                 .winners = true,
                                 .padding_id = 0},
                                {.table = machine.put(rows),
                                 .num_rows = num_rows,
                                 .ids = machine.put(Ids{1, 3, 0, 2, 2}),
                                 .batch = 1,
                                 .winners = winners},
                                Floats(dim));
  print("largest", largest);
  print("winners", machine.get(winners, dim));
}

void bags(Machine& machine) {
  const float* const table = machine.put(rows);
  print("fixed",
        pooled(
            machine, {.dim = dim, .bags = FixedBags{.size = 2}, .pooling = Pooling::sum},
            {.table = table, .num_rows = num_rows, .ids = machine.put(Ids{1, 3, 2, 2}), .batch = 2},
            Floats(2 * dim)));

  // The ids 99 and 77 are in no bag: never read.
  const std::int64_t* const ids = machine.put(Ids{99, 1, 3, 2, 2, 77});
  print("csr, end included",
        pooled(machine, {.dim = dim, .bags = CsrBags{}, .pooling = Pooling::sum},
               {.table = table,
                .num_rows = num_rows,
                .ids = ids,
                .num_ids = 6,
                .offsets = machine.put(Ids{1, 3, 3, 5}),
                .batch = 3},
               Floats(3 * dim)));
  print("csr, end implied",
        pooled(machine,
               {.dim = dim, .bags = CsrBags{.end = OffsetsEnd::implied}, .pooling = Pooling::sum},
               {.table = table,
                .num_rows = num_rows,
                .ids = ids,
                .num_ids = 5,
                .offsets = machine.put(Ids{1, 3, 3}),
                .batch = 3},
               Floats(3 * dim)));
  // Where the output held -7 before.
  print("no pooling, fixed",
        pooled(
            machine,
            {.dim = dim, .bags = FixedBags{.size = 2}, .pooling = Pooling::none, .padding_id = 0},
            {.table = table, .num_rows = num_rows, .ids = machine.put(Ids{1, 0, 2, 2}), .batch = 2},
            Floats(4 * dim, -7)));
  print("no pooling, csr",
        pooled(machine, {.dim = dim, .bags = CsrBags{}, .pooling = Pooling::none},
               {.table = table,
                .num_rows = num_rows,
                .ids = ids,
                .num_ids = 6,
                .offsets = machine.put(Ids{1, 3, 3, 5}),
                .batch = 3},
               Floats(6 * dim, -7)));
}

void counts_on_device(Machine& machine) {
  print(
      "2 bags of a capacity of 4",
      pooled(machine,
             {.dim = dim, .bags = CsrBags{}, .pooling = Pooling::sum, .counts = Counts::on_device},
             {.table = machine.put(rows),
              .num_rows = num_rows,
              .ids = machine.put(Ids{1, 3, 2, 0, 0, 0, 0, 0}),
              .num_ids = 8,  // a capacity, as is the batch
              .offsets = machine.put(Ids{0, 2, 3, 0, 0}),
              .batch = 4,
              .counts = machine.put(Ids{2, 3})},  // what is there now
             Floats(4 * dim, -7)));
}

void bad_input(Machine& machine) {
  const auto show = [&](BadIds policy, const Ids& ids, const Ids& offsets) {
    const auto batch = static_cast<std::int64_t>(offsets.size()) - 1;
    float* const output = machine.put(Floats(batch * dim));
    try {
      machine.forward({.dim = dim, .bags = CsrBags{}, .pooling = Pooling::sum, .bad_ids = policy},
                      {.table = machine.put(rows),
                       .num_rows = num_rows,
                       .ids = machine.put(ids),
                       .num_ids = static_cast<std::int64_t>(ids.size()),
                       .offsets = machine.put(offsets),
                       .output = output,
                       .batch = batch});
    } catch (const Error& error) {
      std::printf("%s\n", error.what());
    }
    print(std::string(name(policy)), machine.get(output, batch * dim));
  };
  show(BadIds::skip, {1, 3, 1, 7, 3}, {0, 2, 5});
  show(BadIds::report, {1, 3, 1, 7, 3}, {0, 2, 5});
  show(BadIds::skip, {1, 3, 2}, {-4, 9, 2, 3});
  show(BadIds::report, {1, 3, 2}, {-4, 9, 2, 3});
}

/// Quantises one row, shows its bytes, and pools it with itself.
void show_row(Machine& machine, const std::string& what, DataType type, const RowScale& scale,
              const Floats& row) {
  const ForwardSpec spec = validated({.dim = static_cast<std::int64_t>(row.size()),
                                      .bags = FixedBags{.size = 2},
                                      .pooling = Pooling::sum,
                                      .table_type = type,
                                      .row_scale = scale});
  std::uint8_t* const table = machine.put(std::vector<std::uint8_t>(row_stride_bytes(spec)));
  float* const scales = machine.put(Floats(2));
  machine.quantise(spec,
                   {.values = machine.put(row), .num_rows = 1, .table = table, .scales = scales});
  print_bytes(what, machine.get(table, row_stride_bytes(spec)));
  if (scale.place == RowScale::Place::apart) {
    print("its scale", machine.get(scales, scale.has_bias ? 2 : 1));
  }
  print("twice the row",
        pooled(machine, spec,
               {.table = table,
                .num_rows = 1,
                .ids = machine.put(Ids{0, 0}),
                .batch = 1,
                .scales = scales},
               Floats(row.size())),
        row.size());
}

void quantised_rows(Machine& machine) {
  const Floats eight = {-10, 0, 117.5F}, four = {-1, 0, 6.5F};
  show_row(machine, "int8, apart, no bias", DataType::int8, {}, {-127, 0, 64});
  show_row(machine, "int8, apart, bias", DataType::int8, {.has_bias = true}, eight);
  show_row(machine, "int8, inference_row", DataType::int8, fbgemm::inference_row(), eight);
  show_row(machine, "int4, inference_row", DataType::int4, fbgemm::inference_row(), four);
  show_row(machine, "int8, fused_8bit_row", DataType::int8, fbgemm::fused_8bit_row(3), eight);
  show_row(machine, "int4, fused_4bit_row", DataType::int4, fbgemm::fused_4bit_row(3), four);
  show_row(machine, "int8, no padding", DataType::int8,
           {.place = RowScale::Place::in_row, .has_bias = true, .offset = 3}, eight);
  show_row(machine, "float8_e4m3, nowhere", DataType::float8_e4m3,
           {.place = RowScale::Place::nowhere}, {-1, 2, 448});
}

void types(Machine& machine) {
  const std::vector<std::uint16_t> table = {host::float16_from(2048), host::float16_from(1)};
  const auto sum = pooled(
      machine,
      {.dim = 1,
       .bags = FixedBags{.size = 3},
       .pooling = Pooling::sum,
       .table_type = DataType::float16,
       .output_type = DataType::float16},
      {.table = machine.put(table), .num_rows = 2, .ids = machine.put(Ids{0, 1, 1}), .batch = 1},
      std::vector<std::uint16_t>(1));
  print("2048 + 1 + 1 of float16 rows", Floats{host::float_from_float16(sum[0])});
}

void strides(Machine& machine) {
  // Columns 1 and 2 of a matrix of 4, into columns 0 and 1 of a matrix of 3.
  const Floats matrix = {0, 1, 10, 0,   // row 0
                         0, 2, 20, 0};  // row 1
  print("columns 1 and 2",
        pooled(machine,
               {.dim = 2,
                .bags = FixedBags{.size = 2},
                .pooling = Pooling::sum,
                .row_stride = 4,
                .output_stride = 3,
                .alignment = sizeof(float)},  // of the address of column 1
               {.table = machine.put(matrix) + 1,
                .num_rows = 2,
                .ids = machine.put(Ids{0, 1, 1, 1}),
                .batch = 2},
               Floats(2 * 3, -7)),
        3);
}

void many_tables(Machine& machine) {
  const TablesSpec spec = {.tables = {{.dim = dim, .bags = CsrBags{}, .pooling = Pooling::sum},
                                      {.dim = 1, .bags = CsrBags{}, .pooling = Pooling::mean}},
                           .bags = TablesSpec::Bags::joined,
                           .outputs = TablesSpec::Outputs::side_by_side};
  const std::vector<ForwardArguments> tables = {
      {.table = machine.put(rows), .num_rows = num_rows},
      {.table = machine.put(Floats{100, 200, 300}), .num_rows = 3}};
  const Floats before(2 * 3);
  float* const output = machine.put(before);
  machine.forward(spec, tables,
                  {.ids = machine.put(Ids{1, 3, 2, 0, 1, 2}),
                   .num_ids = 6,
                   .offsets = machine.put(Ids{0, 2, 3, 4, 6}),
                   .output = output,
                   .batch = 2});
  print("two tables side by side", machine.get(output, before.size()), 3);
}

void not_a_number(Machine& machine) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ForwardArguments two_bags = {.table = machine.put(Floats{nan, 1, 2}),
                                     .num_rows = 3,
                                     .ids = machine.put(Ids{0, 1, 2, 1}),
                                     .batch = 2};
  const auto show = [&](const char* what, Pooling pooling, std::optional<std::int64_t> padding) {
    print(
        what,
        pooled(machine,
               {.dim = 1, .bags = FixedBags{.size = 2}, .pooling = pooling, .padding_id = padding},
               two_bags, Floats(2)),
        1);
  };
  show("row 0 is NaN, sum", Pooling::sum, {});
  show("row 0 is NaN, max", Pooling::max, {});
  show("row 0 is NaN and padding", Pooling::sum, 0);
}

/// The first elements of an output whose type is the spec's.
template <class T>
void print_first(Machine& machine, const char* what, const void* values, std::int64_t count) {
  const auto width = static_cast<std::size_t>(count);
  print(what, machine.get(static_cast<const T*>(values), width), width);
}

void transposed_ids(Machine& machine) {
  using Indices = std::vector<std::int32_t>;
  constexpr std::int64_t num_ids = 6, capacity = 4;
  const TransposeArguments arguments = {
      .forward = {.num_rows = num_rows,
                  .ids = machine.put(Ids{4, 1, 0, 4, 1, 4}),
                  .batch = 3,
                  .weights = machine.put(Floats{0.5F, 1, 9, 2, 3, 4})},
      .capacity = capacity,
      .rows = machine.put(Ids(capacity)),
      .count = machine.put(std::vector<TransposeCount>(1)),
      .begins = machine.put(Indices(capacity + 1)),
      .bags_by_row = machine.put(Indices(num_ids)),
      .positions_by_row = machine.put(Indices(num_ids)),
      .weights_by_row = machine.put(Floats(num_ids)),
      .inverse = machine.put(Indices(num_ids))};
  machine.transpose(
      {.bags = FixedBags{.size = 2}, .padding_id = 0, .weight_type = DataType::float32}, arguments);

  const TransposeCount count = machine.get(arguments.count, 1).front();
  std::printf("rows %lld, missing %lld, ids that count %lld\n", static_cast<long long>(count.rows),
              static_cast<long long>(count.missing), static_cast<long long>(count.ids));
  print_first<std::int64_t>(machine, "rows named", arguments.rows, count.rows);
  print_first<std::int32_t>(machine, "begins", arguments.begins, count.rows + 1);
  print_first<std::int32_t>(machine, "bags by row", arguments.bags_by_row, count.ids);
  print_first<std::int32_t>(machine, "positions by row", arguments.positions_by_row, count.ids);
  print_first<float>(machine, "weights by row", arguments.weights_by_row, count.ids);
  print_first<std::int32_t>(machine, "inverse", arguments.inverse, num_ids);
}

void fused_ends(Machine& machine) {
  const auto show = [&](const char* what, const FusedEnd& end) {
    print(what, pooled(machine,
                       {.dim = dim,
                        .bags = FixedBags{.size = 5},
                        .pooling = Pooling::sum,
                        .padding_id = 0,
                        .end = end},
                       {.table = machine.put(rows),
                        .num_rows = num_rows,
                        .ids = machine.put(Ids{1, 3, 0, 2, 2}),
                        .batch = 1,
                        .end_parameters = machine.put(Floats{-20, 0.5F})},
                       Floats(dim)));
  };
  show("L2 normalisation", {.element = "x * rsqrtf(row_sum + 1e-12f)", .row_sum = "x * x"});
  show("bias and ReLU", {.element = "fmaxf(x + parameters[column], 0.0f)"});
  show("divided by count + 1", {.element = "x / (count + 1)"});
}

}  // namespace

int main() {
  try {
    Machine machine;
    poolings(machine);
    winners(machine);
    bags(machine);
    counts_on_device(machine);
    bad_input(machine);
    quantised_rows(machine);
    types(machine);
    strides(machine);
    many_tables(machine);
    not_a_number(machine);
    transposed_ids(machine);
    // CUDA expressions: the CPU has no compiler for them.
    if (machine.is_gpu()) fused_ends(machine);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), error.details().c_str());
    return 1;
  }
}
