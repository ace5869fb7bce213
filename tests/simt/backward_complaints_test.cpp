// What users of other embedding bags ran into in training, by the threads where they said so: the
// text of every method's kernels and the CPU backend must follow one and the same rule.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "backward_on_cpu.hpp"
#include "bad_input_report.cuh"
#include "catch.hpp"
#include "given_bags.hpp"
#include "jitbag/host.hpp"
#include "support/backward_case.hpp"
#include "support/bags.hpp"
#include "support/caught.hpp"
#include "support/elements.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

using host::OracleGradients;

/// The gradient of a bag's outputs is the bag's number + 1, and NaN where nothing is counted.
void set_output_gradient(BackwardCase& given) {
  const ForwardSpec& spec = given.spec.forward;
  const Bags bags(spec, given.inputs.host_arguments());
  for (std::int64_t bag = 0; bag < bags.batch(); ++bag) {
    bool is_counted = false;
    const Positions positions = bags.bag(bag);
    for (std::int64_t i = positions.begin; i < positions.end; ++i) is_counted |= bags.is_counted(i);
    const double value =
        is_counted ? static_cast<double>(bag + 1) : std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t i = 0; i < output_width(spec); ++i) {
      store_element(
          given.output_gradient.data() + (bag * spec.output_stride + i) * size_of(spec.output_type),
          spec.output_type, value);
    }
  }
}

BackwardCase given_gradient(const BackwardSpec& spec, const ForwardCase& inputs) {
  BackwardCase given(spec, inputs, 1);
  set_output_gradient(given);
  return given;
}

/// What the CPU backend leaves must be what the oracle says; what it throws, what is reported.
void check_backend(const BackwardCase& given) {
  const auto inputs = given.inputs.inputs;
  GradientArrays arrays = given.before;
  const BackwardArguments arguments = given.host_arguments(arrays);
  CHECK(caught([&] { host::backward(given.spec, arguments, 1); }) == expected_error(given.inputs));
  CHECK(given.check(arrays, BackwardMethod::scatter) == "");
  CHECK(given.inputs.inputs == inputs);
}

/// The methods by which the gradient can be made.
std::vector<BackwardStrategy> strategies_of(const BackwardSpec& spec) {
  std::vector<BackwardStrategy> strategies;
  for (const auto method : {BackwardMethod::scatter, BackwardMethod::merge, BackwardMethod::sort}) {
    const BackwardStrategy strategy = default_strategy(spec, method, target);
    if (caught([&] { validate(strategy, spec, target); }) == nothing) {
      strategies.push_back(strategy);
    }
  }
  return strategies;
}

/// Runs the kernels of every method and the CPU backend; all must leave what the oracle says,
/// report the same and write to no input. Returns what the oracle says.
OracleGradients run(const BackwardSpec& spec, const ForwardCase& inputs) {
  const BackwardCase given = given_gradient(spec, inputs);
  INFO(to_text(given.spec));
  for (const BackwardStrategy& strategy : strategies_of(given.spec)) {
    INFO(to_text(strategy));
    CHECK(BackwardOnCpu(given.spec, strategy, target, seed()).check(given) == "");
  }
  check_backend(given);
  GradientArrays arrays = given.before;
  return host::oracle_gradients(given.spec, given.host_arguments(arrays));
}

using Rows = std::map<std::int64_t, double>;

/// The first column of each row that has a gradient.
Rows first_column(const OracleGradients& gradients) {
  Rows rows;
  for (const auto& [row, elements] : gradients.rows) rows[row] = elements.front().value;
  return rows;
}

/// Poolings of every kind side by side, whose kernels serve most tests here: padding is 3, bad
/// input is reported, and both gradients are made.
BackwardSpec every_pooling(const BagLayout& bags) {
  using enum Pooling;
  BackwardSpec spec;
  spec.forward = sums(bags, BadIds::report);
  spec.forward.pooling = Poolings{sum, mean, mean_by_weights, mean_by_length, mean_by_sqrt, max};
  spec.forward.mean_length = 4;
  spec.forward.winners = true;
  spec.forward.weight_type = DataType::float32;
  spec.forward.padding_id = 3;
  spec.weight_gradient_type = DataType::float32;
  return spec;
}

/// With 32-bit ids and 64-bit offsets.
BackwardSpec csr_bags() {
  BackwardSpec spec = every_pooling(CsrBags{});
  spec.forward.id_type = IntegerType::int32;
  return spec;
}

/// Five ids each, of rows of an odd number of columns, no better aligned than an element.
BackwardSpec bags_of_five() {
  BackwardSpec spec = every_pooling(FixedBags{5});
  spec.forward.dim = 33;
  spec.forward.alignment = 4;
  spec.table_gradient = DenseGradient{.alignment = 4};
  return spec;
}

/// With 64-bit ids and 32-bit offsets; the last bag ends at the last id.
BackwardSpec sparse_sums() {
  BackwardSpec spec;
  spec.forward = sums(CsrBags{IntegerType::int32, OffsetsEnd::implied});
  spec.forward.padding_id = 3;
  spec.table_gradient = SparseGradient{};
  return spec;
}

/// Of weight 1.
ForwardCase bags_in(const BackwardSpec& spec, std::int64_t batch, const Integers& ids,
                    const Integers& offsets = {}) {
  return case_of(spec.forward, batch, ids, offsets, std::vector<double>(ids.size(), 1.0));
}

/// What all those poolings but the maximum pass on to one of n ids of weight 1.
double passed_on(double n) {
  return 1 + 1 / n + 1 / n + 1 / 4.0 + 1 / std::sqrt(n);
}

TEST_CASE("offsets below 0, past the ids or decreasing pass nothing on (pytorch#193095)") {
  const BackwardSpec spec = csr_bags();
  CHECK(run(spec, bags_in(spec, 4, {1, 2, 3, 4}, {-5, 2, 1, 99, 4})).rows.size() == 3);
  CHECK(run(spec, bags_in(spec, 1, {1, 2, 3, 4}, {-7, -3})).rows.empty());
  CHECK(run(spec, bags_in(spec, 1, {1, 2, 3, 4}, {5, 9})).rows.empty());
  const BackwardSpec implied = sparse_sums();
  CHECK(first_column(run(implied, bags_in(implied, 2, {1, 2, 4}, {-2, 7}))) ==
        Rows{{1, 1}, {2, 1}, {4, 1}});
}

TEST_CASE("ids after the last offset have no gradient (pytorch#52851, #55549, #175368)") {
  // What offsets say that are bad is reported by the kernels, and thrown by the backend.
  const BackwardSpec spec = csr_bags();
  const OracleGradients gradients = run(spec, bags_in(spec, 2, {1, 2, 4, 99}, {0, 1, 3}));
  CHECK(gradients.rows.size() == 3);
  CHECK(first_column(gradients)[1] == passed_on(1) + 1);
  run(spec, bags_in(spec, 2, {1, 2, 3, 4}, {2, 1, 4}));
}

TEST_CASE("64-bit offsets are not cut to 32 bits in backward (cuEmbed)") {
  const BackwardSpec spec = csr_bags();
  const std::int64_t far = (std::int64_t{1} << 32) + 1;  // 1, if it were
  CHECK(first_column(run(spec, bags_in(spec, 2, {1, 2, 4, 5}, {0, far, far}))) ==
        Rows{{1, passed_on(4)}, {2, passed_on(4)}, {4, passed_on(4)}, {5, passed_on(4) + 1}});
}

TEST_CASE("a bad id has no gradient, and no other row has it (pytorch#192445, PR#193408)") {
  // torchrec#575 (row 0), FBGEMM#6215 (the number of rows) and HugeCTR#41 (keys of any value) too.
  using Int64 = std::numeric_limits<std::int64_t>;
  const BackwardSpec spec = bags_of_five();
  constexpr std::int64_t two_to_32 = std::int64_t{1} << 32;
  const OracleGradients gradients =
      run(spec, bags_in(spec, 3,
                        {num_rows, 9, -1, two_to_32 / 2 + 9, two_to_32,     //
                         -two_to_32 + 4, Int64::min(), Int64::max(), 4, 3,  //
                         -1, -1, num_rows, 3, two_to_32 + 5}));
  CHECK(first_column(gradients) == Rows{{4, 2 * passed_on(1) + 2}, {9, passed_on(1) + 1}});
  for (std::size_t i = 0; i < gradients.weights.size(); ++i) {
    CHECK((gradients.weights[i].magnitude > 0) == (i == 1 || i == 8));
  }
  using Int32 = std::numeric_limits<std::int32_t>;
  const BackwardSpec narrow = csr_bags();
  CHECK(first_column(run(narrow, bags_in(narrow, 1, {Int32::min(), 2, Int32::max()}, {0, 3}))) ==
        Rows{{2, passed_on(1) + 1}});
}

TEST_CASE("padding has no gradient and does not divide it (pytorch#3194, #47858, PR#49237)") {
  const Integers ids{1, 3, 2, 4, 5};
  const Rows rows{{1, passed_on(4)}, {2, passed_on(4)}, {4, passed_on(4)}, {5, passed_on(4) + 1}};
  const BackwardSpec fixed = bags_of_five();
  CHECK(first_column(run(fixed, bags_in(fixed, 1, ids))) == rows);
  const BackwardSpec csr = csr_bags();
  CHECK(first_column(run(csr, bags_in(csr, 1, ids, {0, 5}))) == rows);
}

TEST_CASE("bags of nothing but padding name no row, sparse or dense (pytorch#3506, PR#3842)") {
  // pytorch#6211 as well.
  const BackwardSpec fixed = bags_of_five();
  CHECK(run(fixed, bags_in(fixed, 2, Integers(10, 3))).rows.empty());
  const BackwardSpec csr = csr_bags();
  CHECK(run(csr, bags_in(csr, 2, {3, 3, 3}, {0, 1, 3})).rows.empty());
  const BackwardSpec sparse = sparse_sums();
  CHECK(run(sparse, bags_in(sparse, 2, {3, 3, 3}, {0, 1})).rows.empty());
  CHECK(first_column(run(sparse, bags_in(sparse, 2, {3, 7, 3}, {0, 1}))) == Rows{{7, 2}});
}

TEST_CASE("the gradients of empty bags do not matter, wherever they are (pytorch#11739, #4169)") {
  // pytorch PR#7389, #21400 and PR#57446 as well. They are NaN here.
  const BackwardSpec spec = csr_bags();
  CHECK(first_column(run(spec, bags_in(spec, 6, {4, 4}, {0, 0, 1, 1, 1, 2, 2}))) ==
        Rows{{4, (2 + 5) * (passed_on(1) + 1)}});
  CHECK(run(spec, bags_in(spec, 3, {}, {0, 0, 0, 0})).rows.empty());
}

TEST_CASE("no offsets and one offset have their gradients (pytorch#175370, PR#187104)") {
  const BackwardSpec implied = sparse_sums();
  CHECK(run(implied, bags_in(implied, 0, {1, 2}, {})).rows.empty());
  CHECK(first_column(run(implied, bags_in(implied, 1, {1, 2}, {0}))) == Rows{{1, 1}, {2, 1}});
  CHECK(run(implied, bags_in(implied, 1, {}, {0})).rows.empty());
  const BackwardSpec included = csr_bags();
  CHECK(run(included, bags_in(included, 0, {1, 2}, {0})).rows.empty());
}

TEST_CASE("ids and offsets of different types have their gradients (pytorch#46758, #55189)") {
  // pytorch PR#53655 as well.
  const BackwardSpec narrow_ids = csr_bags();
  CHECK(first_column(run(narrow_ids, bags_in(narrow_ids, 2, {1, 2}, {0, 1, 2}))) ==
        Rows{{1, passed_on(1) + 1}, {2, 2 * (passed_on(1) + 1)}});
  const BackwardSpec narrow_offsets = sparse_sums();
  CHECK(first_column(run(narrow_offsets, bags_in(narrow_offsets, 2, {1, 2, 1}, {0, 1}))) ==
        Rows{{1, 1 + 2}, {2, 2}});
}

TEST_CASE("rows without columns have no gradient, and are counted (pytorch#189668)") {
  BackwardSpec spec;
  spec.forward = sums(FixedBags{2});
  spec.forward.dim = 0;
  run(spec, case_of(spec.forward, 2, {0, 4, 1, 2}));
  spec.table_gradient = SparseGradient{};
  CHECK(run(spec, case_of(spec.forward, 2, {0, 4, 4, 2})).rows.size() == 3);
  spec.table_gradient = AppliedGradient{Optimizer::row_wise_adagrad};  // a mean of no squares
  run(spec, case_of(spec.forward, 2, {0, 4, 1, 2}));
}

TEST_CASE("rows of any dim, named again and again, have all of their gradient (tt-metal#43567)") {
  // tt-metal#44500 and #6232 (duplicates in odd and wide rows), torchrec#3673, PR#3876, #1125 and
  // FBGEMM PR#5569 (more than 1024 columns), torchrec#1495, FBGEMM#1208, #1402 and #1388 (multiples
  // of 4). The kernels of other dims are the matrix's, and those of 4096 columns the GPU's.
  const BackwardSpec odd = bags_of_five();
  CHECK(first_column(run(odd, bags_in(odd, 2, {7, 7, 7, 3, 7, 1, 7, 7, 1, 3})))[7] ==
        4 * passed_on(4) + 1 + 2 * 2 * passed_on(4) + 2);
  for (const std::int64_t dim : {1, 2, 3, 5, 7, 33, 1023, 1024, 1025, 2048, 4096}) {
    for (const TableGradient& gradient :
         {TableGradient(DenseGradient{.alignment = 4}), TableGradient(SparseGradient{}),
          TableGradient(AppliedGradient{Optimizer::row_wise_adagrad})}) {
      BackwardSpec spec{.forward = sums(FixedBags{3}), .table_gradient = gradient};
      spec.forward.dim = dim;
      spec.forward.alignment = 4;
      const ForwardCaseOptions options{.spec = spec.forward,
                                       .batch = 5,
                                       .num_rows = num_rows,
                                       .mix = {.duplicates = 0.6},
                                       .table_misalignment = 1,
                                       .ids_misalignment = 1,
                                       .seed = seed()};
      INFO(to_text(validated(spec)));
      check_backend(BackwardCase(spec, options));
    }
  }
}

TEST_CASE("weights are not dropped in backward, and divide where they should (pytorch#4068)") {
  // recsys-examples#469 and TorchEasyRec#648 as well.
  const BackwardSpec spec = csr_bags();
  const Rows rows = first_column(run(spec, case_of(spec.forward, 1, {0, 4}, {0, 2}, {3, 1})));
  const double of_one = 1 + 1 / 2.0 + 1 / 4.0 + 1 / 4.0 + 1 / std::sqrt(2.0);
  CHECK(rows.at(0) == Approx(3 * of_one));
  CHECK(rows.at(4) == Approx(of_one + 1));
}

BackwardSpec weights_of_sums() {
  BackwardSpec spec;
  spec.forward = sums(FixedBags{2});
  spec.forward.weight_type = DataType::float32;
  spec.table_gradient = std::monostate{};
  spec.weight_gradient_type = DataType::float32;
  return spec;
}

TEST_CASE("weights of every type have a gradient, of a table of another (pytorch#185808)") {
  // pytorch PR#185889, PR#141998, torchrec#1758, FBGEMM#595 and #2369 as well.
  const std::array types{DataType::bfloat16, DataType::float32, DataType::float16,
                         DataType::float64};
  for (std::size_t i = 0; i < types.size(); ++i) {
    BackwardSpec spec = weights_of_sums();
    spec.forward.weight_type = types[i];
    spec.forward.table_type = types[(i + 1) % types.size()];
    spec.weight_gradient_type = types[i];
    const ForwardCase inputs = case_of(spec.forward, 2, {0, 4, 4, 1}, {}, {0.5, 2, 1, 1});
    const auto weights = run(spec, inputs).weights;
    CHECK(weights[0].value == 1 + 1.5 + 2);
    CHECK(weights[2].value == 2 * (5 + 5.5 + 6));
    // Of every type too, where rows are added up on the CPU.
    spec.table_gradient = DenseGradient{types[(i + 2) % types.size()]};
    check_backend(given_gradient(spec, inputs));
  }
}

TEST_CASE("a gradient is the same, whichever else is asked for (pytorch#136457, functorch#469)") {
  const BackwardSpec both = csr_bags();
  const ForwardCase inputs = bags_in(both, 2, {1, 2, 4, 1}, {0, 3, 4});
  BackwardSpec of_table = both;
  of_table.weight_gradient_type.reset();
  BackwardSpec of_weights = both;
  of_weights.table_gradient = std::monostate{};
  const OracleGradients gradients = run(both, inputs);
  CHECK(first_column(run(of_table, inputs)) == first_column(gradients));
  const OracleGradients weights_alone = run(of_weights, inputs);
  for (std::size_t i = 0; i < gradients.weights.size(); ++i) {
    CHECK(weights_alone.weights[i].value == gradients.weights[i].value);
  }
}

TEST_CASE("two features of one table add up in its gradient (torchrec#3728)") {
  BackwardSpec spec = csr_bags();
  spec.weight_gradient_type.reset();
  const BackwardCase one = given_gradient(spec, bags_in(spec, 2, {1, 2, 4, 1}, {0, 3, 4}));
  const BackwardCase other = given_gradient(spec, bags_in(spec, 3, {2, 9, 9}, {0, 1, 2, 3}));
  GradientArrays unused = one.before;
  const auto of_one = host::oracle_gradients(one.spec, one.host_arguments(unused));
  const auto of_other = host::oracle_gradients(other.spec, other.host_arguments(unused));
  for (const BackwardStrategy& strategy : strategies_of(one.spec)) {
    BackwardOnCpu kernels(one.spec, strategy, target, seed());
    GradientArrays arrays = one.before;
    BadInputReport report{};
    CHECK(kernels.launch(one.host_arguments(arrays), report) == "");
    CHECK(kernels.launch(other.host_arguments(arrays), report) == "");
    for (std::int64_t row = 0; row < num_rows; ++row) {
      const std::int64_t at = row * spec.forward.dim * 4;
      Rows first = first_column(of_one), second = first_column(of_other);
      CHECK(load_element(arrays.table.data() + at, DataType::float32) ==
            Approx(load_element(one.before.table.data() + at, DataType::float32) + first[row] +
                   second[row]));
    }
  }
}

TEST_CASE("sorting gives the same bits, in whatever order threads run (Paddle#50245, mxnet#9846)") {
  const BackwardSpec spec = validated(csr_bags());
  const ForwardCaseOptions options{
      .spec = spec.forward, .batch = 60, .num_rows = num_rows, .seed = seed()};
  const BackwardCase given(spec, options);
  const BackwardStrategy strategy = default_strategy(spec, BackwardMethod::sort, target);
  GradientArrays first = given.before;
  for (const std::uint64_t order : {1, 2, 3}) {
    GradientArrays arrays = given.before;
    BadInputReport report{};
    BackwardOnCpu kernels(spec, strategy, target, order);
    CHECK(kernels.launch(given.host_arguments(arrays), report) == "");
    if (order == 1) first = arrays;
    CHECK((arrays.table == first.table));
    CHECK((arrays.weights == first.weights));
  }
}

TEST_CASE("a table of float8 passes gradients on (FBGEMM#2920, PR#4614)") {
  BackwardSpec spec = weights_of_sums();
  spec.forward.dim = 4;
  ForwardCase inputs = case_of(spec.forward, 1, {0, 1}, {}, {1, 1});
  PlacedArray narrow(static_cast<std::size_t>(num_rows) * 4, 0, false);
  for (std::size_t i = 0; i < narrow.bytes; ++i) {
    const double wide = load_element(inputs.input(Input::table).data() + i * 4, DataType::float32);
    narrow.data()[i] = std::byte{host::float8_e4m3_from(static_cast<float>(wide))};
  }
  spec.forward.table_type = DataType::float8_e4m3;
  spec.forward.row_scale.place = RowScale::Place::nowhere;
  spec.forward.row_scale.has_bias = false;
  inputs.spec = validated(spec.forward);
  inputs.input(Input::table) = narrow;
  const auto weights = run(spec, inputs).weights;
  CHECK(weights[0].value == 1 + 1.5 + 2 + 2.5);
  CHECK(weights[1].value == 2 + 2.5 + 3 + 3.5);
  spec.table_gradient = DenseGradient{DataType::bfloat16};
  check_backend(given_gradient(spec, inputs));
}

}  // namespace
}  // namespace jitbag::test
