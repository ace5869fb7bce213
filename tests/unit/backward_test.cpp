#include "jitbag/backward.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "host_case.hpp"
#include "jitbag/host.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"

namespace jitbag {
namespace {

using host::OracleGradients;
using test::caught;
using test::Dice;
using test::HostCase;
using test::load_number;
using test::Precision;
using test::precision;
using test::store_number;

constexpr std::size_t guard = 64;
constexpr auto float_types = {DataType::float32, DataType::float16, DataType::bfloat16,
                              DataType::float64};

std::vector<std::byte> poisoned(std::int64_t bytes) {
  return std::vector<std::byte>(static_cast<std::size_t>(bytes) + guard, std::byte{0xff});
}

double small_number(Dice& dice) {
  return static_cast<double>(dice.below(65) - 32) / 16;
}

/// Inputs of backward. Gradients of gaps are NaN, and so are those of bags that count nothing.
struct BackwardCase {
  BackwardCase(const BackwardSpec& given, Dice& dice)
      : spec(validated(given)), inputs(test::make_host_case(spec.forward, dice)) {
    const ForwardSpec& forward = spec.forward;
    const bool pools = !forward.pooling.has(Pooling::none);
    rows_of_output = pools ? inputs.batch : static_cast<std::int64_t>(inputs.ids.size());
    const std::int64_t width = output_width(forward);
    output_gradient =
        poisoned(rows_of_output * forward.output_stride * size_of(forward.output_type));
    find_winners();
    for (std::int64_t row = 0; row < rows_of_output; ++row) {
      for (std::int64_t i = 0; i < width; ++i) {
        store_number(small_number(dice), forward.output_type, gradient_at(row, i));
      }
    }
  }

  void find_winners() {
    const ForwardSpec& forward = spec.forward;
    winners = poisoned(inputs.batch * forward.dim * size_of(forward.id_type));
    std::vector<std::byte> output = output_gradient;
    ForwardArguments arguments = inputs.arguments();
    arguments.winners = winners.data();
    arguments.output = output.data();
    static_cast<void>(caught([&] { host::forward(forward, arguments, 1); }));
  }

  [[nodiscard]] std::byte* gradient_at(std::int64_t row, std::int64_t column) {
    return output_gradient.data() +
           (row * spec.forward.output_stride + column) * size_of(spec.forward.output_type);
  }

  [[nodiscard]] BackwardArguments arguments() const {
    BackwardArguments arguments;
    arguments.forward = inputs.arguments();
    arguments.forward.winners = const_cast<std::byte*>(winners.data());
    arguments.output_gradient = output_gradient.data();
    return arguments;
  }

  /// Every term of the largest sum, with room for the divisors.
  [[nodiscard]] double terms() const {
    return 2 * static_cast<double>(inputs.ids.size() + static_cast<std::size_t>(spec.forward.dim)) +
           16;
  }

  BackwardSpec spec;  ///< validated
  HostCase inputs;
  std::int64_t rows_of_output = 0;
  std::vector<std::byte> output_gradient, winners;
};

BackwardSpec random_gradient(std::int64_t dim, Dice& dice) {
  BackwardSpec spec;
  spec.forward = test::random_spec(dim, dice);
  if (spec.forward.pooling.has(Pooling::max)) spec.forward.winners = true;
  const DataType type = dice.pick(float_types);
  if (spec.forward.weight_type && dice.chance(2)) {
    spec.weight_gradient_type = dice.pick(float_types);
  }
  if (dice.chance(2)) {
    spec.table_gradient = SparseGradient{type};
  } else {
    spec.table_gradient = DenseGradient{type, dice.chance(3) ? dim + 3 : 0};
  }
  return spec;
}

/// What is wrong with an element, or nothing.
std::string difference(const BackwardCase& given, DataType type, const std::byte* from,
                       const OracleGradients::Element& wanted) {
  const Precision stored = precision(type);
  const double actual = load_number(from, type);
  const double before = given.terms() * 0x1p-24 * wanted.magnitude;
  const double allowed =
      before + stored.relative * (std::abs(wanted.value) + before) + stored.smallest;
  if (std::abs(actual - wanted.value) <= allowed) return {};
  if (std::isinf(actual) && std::abs(wanted.value) >= stored.overflow) return {};
  return std::to_string(actual) + " instead of " + std::to_string(wanted.value);
}

void check_dense(const BackwardCase& given, const DenseGradient& dense,
                 const std::vector<std::byte>& gradient, const OracleGradients& expected) {
  const std::int64_t size = size_of(dense.type);
  const std::vector<OracleGradients::Element> none(
      static_cast<std::size_t>(given.spec.forward.dim));
  for (std::int64_t row = 0; row < given.inputs.num_rows; ++row) {
    const auto found = expected.rows.find(row);
    const auto& wanted = found == expected.rows.end() ? none : found->second;
    for (std::int64_t c = 0; c < given.spec.forward.dim; ++c) {
      OracleGradients::Element with_before = wanted[static_cast<std::size_t>(c)];
      with_before.value += 1;  // what was there
      with_before.magnitude += 1;
      INFO("row " << row << " column " << c);
      REQUIRE(difference(given, dense.type, gradient.data() + (row * dense.row_stride + c) * size,
                         with_before) == "");
    }
  }
}

void check_weights(const BackwardCase& given, const std::vector<std::byte>& gradient,
                   const OracleGradients& expected) {
  const DataType type = *given.spec.weight_gradient_type;
  for (std::size_t i = 0; i < expected.weights.size(); ++i) {
    const std::byte* const at = gradient.data() + i * static_cast<std::size_t>(size_of(type));
    // Ids outside every bag keep the poison.
    if (std::isnan(load_number(at, type))) continue;
    INFO("weight " << i);
    REQUIRE(difference(given, type, at, expected.weights[i]) == "");
  }
}

/// Everything that backward can write to but the moments, as it was before.
struct Written {
  explicit Written(const BackwardCase& given) {
    const ForwardSpec& forward = given.spec.forward;
    const std::int64_t num_rows = given.inputs.num_rows;
    if (const auto* dense = std::get_if<DenseGradient>(&given.spec.table_gradient)) {
      table_gradient = poisoned(num_rows * dense->row_stride * size_of(dense->type));
      for (std::int64_t row = 0; row < num_rows; ++row) {
        for (std::int64_t c = 0; c < forward.dim; ++c) {
          store_number(
              1, dense->type,
              table_gradient.data() + (row * dense->row_stride + c) * size_of(dense->type));
        }
      }
    }
    if (const auto* sparse = std::get_if<SparseGradient>(&given.spec.table_gradient)) {
      capacity = num_rows;
      table_gradient = poisoned(capacity * forward.dim * size_of(sparse->type));
      rows = poisoned(capacity * size_of(forward.id_type));
    }
    if (given.spec.weight_gradient_type) {
      weight_gradient = poisoned(static_cast<std::int64_t>(given.inputs.ids.size()) *
                                 size_of(*given.spec.weight_gradient_type));
    }
  }

  [[nodiscard]] BackwardArguments arguments(const BackwardCase& given) {
    BackwardArguments arguments = given.arguments();
    arguments.table_gradient = table_gradient.data();
    arguments.capacity = capacity;
    arguments.rows = rows.data();
    arguments.count = &count;
    arguments.weight_gradient = weight_gradient.data();
    return arguments;
  }

  std::string run(const BackwardCase& given, int threads) {
    return caught([&] { host::backward(given.spec, arguments(given), threads); });
  }

  [[nodiscard]] std::int64_t row(const BackwardCase& given, std::int64_t place) const {
    if (given.spec.forward.id_type == IntegerType::int64) {
      std::int64_t value = 0;
      std::memcpy(&value, rows.data() + place * 8, 8);
      return value;
    }
    std::int32_t value = 0;
    std::memcpy(&value, rows.data() + place * 4, 4);
    return value;
  }

  std::vector<std::byte> table_gradient, rows, weight_gradient;
  std::int64_t capacity = 0;
  SparseCount count{-1, -1};
};

void check_sparse(const BackwardCase& given, const SparseGradient& sparse, const Written& written,
                  const OracleGradients& expected) {
  REQUIRE(written.count.rows == static_cast<std::int64_t>(expected.rows.size()));
  REQUIRE(written.count.missing == 0);
  const std::int64_t dim = given.spec.forward.dim;
  std::int64_t place = 0;
  for (const auto& [row, wanted] : expected.rows) {
    REQUIRE(written.row(given, place) == row);
    for (std::int64_t c = 0; c < dim; ++c) {
      INFO("row " << row << " column " << c);
      REQUIRE(difference(given, sparse.type,
                         written.table_gradient.data() + (place * dim + c) * size_of(sparse.type),
                         wanted[static_cast<std::size_t>(c)]) == "");
    }
    ++place;
  }
}

void check_backward(const BackwardCase& given, int threads) {
  INFO(to_text(given.spec) << " batch=" << given.inputs.batch << " rows=" << given.inputs.num_rows
                           << " ids=" << given.inputs.ids.size() << " threads=" << threads);
  Written written(given);
  const std::string outcome = written.run(given, threads);
  const bool reports = given.spec.forward.bad_ids == BadIds::report;
  CHECK(outcome == (reports ? test::expected_report(given.inputs) : "nothing"));
  const OracleGradients expected = host::oracle_gradients(given.spec, written.arguments(given));
  if (const auto* dense = std::get_if<DenseGradient>(&given.spec.table_gradient)) {
    check_dense(given, *dense, written.table_gradient, expected);
  } else if (const auto* sparse = std::get_if<SparseGradient>(&given.spec.table_gradient)) {
    check_sparse(given, *sparse, written, expected);
  }
  if (given.spec.weight_gradient_type) check_weights(given, written.weight_gradient, expected);
  for (const auto* bytes : {&written.table_gradient, &written.rows, &written.weight_gradient}) {
    CHECK(std::all_of(bytes->end() - std::min<std::ptrdiff_t>(guard, bytes->end() - bytes->begin()),
                      bytes->end(), [](std::byte byte) { return byte == std::byte{0xff}; }));
  }
}

TEST_CASE("the CPU's gradients agree with the oracle's over a random matrix of specs") {
  const std::uint64_t seed = test::seed();
  INFO("JITBAG_TEST_SEED=" << seed);
  Dice dice(seed);
  for (const std::int64_t dim : {1, 2, 3, 8, 33, 64}) {
    for (int draw = 0; draw < 120; ++draw) {
      check_backward(BackwardCase(random_gradient(dim, dice), dice), dice.pick({1, 2, 3}));
    }
  }
}

TEST_CASE("the CPU's gradients are the same bits with any number of threads") {
  Dice dice(test::seed());
  for (int draw = 0; draw < 60; ++draw) {
    const BackwardCase given(random_gradient(36, dice), dice);
    Written once(given);
    const std::string outcome = once.run(given, 1);
    for (const int threads : {0, 2, 5}) {
      Written again(given);
      REQUIRE(again.run(given, threads) == outcome);
      CHECK((again.table_gradient == once.table_gradient));
      CHECK((again.rows == once.rows));
      CHECK((again.weight_gradient == once.weight_gradient));
    }
  }
}

/// A loss that is linear in the output: the output times its gradient, summed.
double loss(const BackwardCase& given) {
  const ForwardSpec& spec = given.spec.forward;
  std::vector<double> output(static_cast<std::size_t>(given.rows_of_output * output_width(spec)),
                             0.0);
  host::oracle(spec, given.inputs.arguments(), output.data());
  double sum = 0;
  for (std::int64_t row = 0; row < given.rows_of_output; ++row) {
    for (std::int64_t i = 0; i < output_width(spec); ++i) {
      sum += output[static_cast<std::size_t>(row * output_width(spec) + i)] *
             load_number(const_cast<BackwardCase&>(given).gradient_at(row, i), spec.output_type);
    }
  }
  return sum;
}

/// (loss(x + h) - loss(x - h)) / 2h for a double in the case's bytes.
double slope(const BackwardCase& given, std::byte* at) {
  constexpr double h = 0x1p-20;
  const double x = load_number(at, DataType::float64);
  store_number(x + h, DataType::float64, at);
  const double above = loss(given);
  store_number(x - h, DataType::float64, at);
  const double below = loss(given);
  store_number(x, DataType::float64, at);
  return (above - below) / (2 * h);
}

/// Of a float64 table without gaps: a maximum has no slope where two elements are equal.
void make_elements_distinct(BackwardCase& given, Dice& dice) {
  HostCase& inputs = given.inputs;
  for (std::size_t at = inputs.table_begin; at < inputs.table.size(); at += 8) {
    const double value = static_cast<double>(dice.roll() >> 11) * 0x1p-51 - 2;
    store_number(value, DataType::float64, inputs.table.data() + at);
  }
  given.find_winners();
}

TEST_CASE("the oracle's gradients are the slopes of the oracle's output") {
  const std::uint64_t seed = test::seed();
  INFO("JITBAG_TEST_SEED=" << seed);
  Dice dice(seed);
  int slopes = 0;
  for (int draw = 0; draw < 150; ++draw) {
    BackwardSpec spec = random_gradient(dice.pick<std::int64_t>({1, 3, 5}), dice);
    spec.forward.table_type = DataType::float64;
    spec.forward.row_stride = 0;
    spec.forward.output_type = DataType::float64;
    spec.forward.output_alignment = 0;
    spec.forward.alignment = 8;
    spec.forward.output_stride = 0;
    if (spec.forward.weight_type) {
      spec.forward.weight_type = DataType::float64;
      spec.weight_gradient_type = DataType::float64;
      spec.forward.bad_ids = BadIds::trust;  // bags that overlap have no one gradient of a weight
    }
    BackwardCase given(spec, dice);
    make_elements_distinct(given, dice);
    INFO(to_text(given.spec));
    Written written(given);
    const OracleGradients expected = host::oracle_gradients(given.spec, written.arguments(given));
    for (std::int64_t row = 0; row < std::min<std::int64_t>(given.inputs.num_rows, 5); ++row) {
      const auto found = expected.rows.find(row);
      for (std::int64_t c = 0; c < spec.forward.dim; ++c, ++slopes) {
        std::byte* const at = given.inputs.table.data() + given.inputs.table_begin +
                              (row * given.spec.forward.row_stride + c) * 8;
        const double wanted =
            found == expected.rows.end() ? 0 : found->second[static_cast<std::size_t>(c)].value;
        REQUIRE(slope(given, at) == Approx(wanted).margin(1e-6));
      }
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(expected.weights.size(), 12); ++i) {
      std::byte* const at = given.inputs.weights.data() + i * 8;
      if (std::isnan(load_number(at, DataType::float64))) continue;
      const bool is_stale = expected.weights[i].magnitude == 0;  // outside every bag
      if (!is_stale) REQUIRE(slope(given, at) == Approx(expected.weights[i].value).margin(1e-5));
      ++slopes;
    }
  }
  CHECK(slopes > 500);
}

/// Sums of fixed bags over a table of dim 2, float32 all over.
struct Small {
  Small() {
    spec.forward.dim = 2;
    spec.forward.pooling = Pooling::sum;
    spec.forward.alignment = 4;
  }

  BackwardArguments arguments() {
    BackwardArguments result;
    result.forward.num_rows = num_rows;
    result.forward.ids = ids.data();
    result.forward.batch = static_cast<std::int64_t>(output_gradient.size()) / 2;
    result.output_gradient = output_gradient.data();
    result.table_gradient = gradient.data();
    result.rows = rows.data();
    result.capacity = static_cast<std::int64_t>(rows.size());
    result.count = &count;
    result.updated_table = table.data();
    result.first_moment = first_moment.data();
    result.second_moment = second_moment.data();
    result.parameters = &parameters;
    return result;
  }

  BackwardSpec spec;
  std::int64_t num_rows = 4;
  std::vector<std::int64_t> ids;
  std::vector<float> output_gradient;
  std::vector<float> gradient = std::vector<float>(8);
  std::vector<std::int64_t> rows;
  std::vector<float> table = std::vector<float>(8, 1.0f);
  std::vector<float> first_moment = std::vector<float>(8), second_moment = std::vector<float>(8);
  SparseCount count;
  OptimizerParameters parameters;
};

TEST_CASE("a gradient is added to what is there, and rows that no id names are not touched") {
  Small small;
  small.ids = {2, 2, 0};
  small.output_gradient = {1, 10, 2, 20, 4, 40};
  small.gradient = {100, 100, -0.0f, 7, 100, 100, -0.0f, 7};
  host::backward(small.spec, small.arguments());
  CHECK(small.gradient == std::vector<float>{104, 140, -0.0f, 7, 103, 130, -0.0f, 7});
  CHECK(std::signbit(small.gradient[2]));
}

TEST_CASE("clearing a gradient sets the rows to 0 that ids name, and no others") {
  Small small;
  small.spec.table_gradient = ClearedGradient{};
  small.spec.forward.padding_id = 3;
  small.ids = {2, 3, 2, 9};
  small.gradient = {1, 2, 3, 4, NAN, INFINITY, 7, 8};
  BackwardArguments arguments = small.arguments();
  arguments.output_gradient = nullptr;
  arguments.forward.batch = 4;
  host::backward(small.spec, arguments);
  CHECK(small.gradient == std::vector<float>{1, 2, 3, 4, 0, 0, 7, 8});
}

TEST_CASE("a sparse gradient that has too little room says how many rows are missing") {
  Small small;
  small.spec.table_gradient = SparseGradient{};
  small.ids = {3, 1, 3, 2};
  small.output_gradient = {1, 10, 2, 20, 4, 40, 8, 80};
  small.rows = {-9, -9};
  small.gradient = {0, 0, 0, 0, 77, 77};
  host::backward(small.spec, small.arguments());
  CHECK(small.rows == std::vector<std::int64_t>{1, 2});
  CHECK(small.gradient == std::vector<float>{2, 20, 8, 80, 77, 77});
  CHECK(small.count.rows == 2);
  CHECK(small.count.missing == 1);
}

TEST_CASE("a bag in which nothing is counted has no gradient, not even a NaN") {
  Small small;
  small.spec.forward.padding_id = 0;
  small.spec.forward.pooling = Pooling::mean;
  small.ids = {0, 1};
  small.output_gradient = {NAN, INFINITY, 3, 4};
  host::backward(small.spec, small.arguments());
  CHECK(small.gradient == std::vector<float>{0, 0, 3, 4, 0, 0, 0, 0});
}

TEST_CASE("one row that 100,000 ids name has the sum of their gradients") {
  Small small;
  small.ids.assign(100'000, 1);
  small.output_gradient.assign(200'000, 0.5f);
  small.spec.table_gradient = DenseGradient{DataType::float32};
  host::backward(small.spec, small.arguments());
  CHECK(small.gradient == std::vector<float>{0, 0, 50'000, 50'000, 0, 0, 0, 0});
}

TEST_CASE("a narrow gradient is summed in float32 and rounded once") {
  Small small;
  small.ids.assign(4096, 0);
  small.output_gradient.assign(8192, 1.0f);  // in float16 the sum would stop at 2048
  std::vector<std::uint16_t> narrow(8, 0);
  small.spec.table_gradient = DenseGradient{DataType::float16};
  BackwardArguments arguments = small.arguments();
  arguments.table_gradient = narrow.data();
  host::backward(small.spec, arguments);
  CHECK(host::float_from_float16(narrow[0]) == 4096);
}

/// One step of a row in float64, as the formulas have it.
struct PlainStep {
  Optimizer optimizer;
  OptimizerParameters by;
  std::map<std::int64_t, std::vector<double>> first = {}, second = {};

  void operator()(std::int64_t row, std::vector<double> g, double* x) {
    const std::size_t dim = g.size();
    std::vector<double>& m = first[row];
    std::vector<double>& v = second[row];
    m.resize(dim);
    v.resize(dim);
    double norm = 0, squares = 0;
    for (const double one : g) norm += one * one;
    norm = std::sqrt(norm);
    const bool is_plain = optimizer == Optimizer::plain_sgd;
    const double decay = is_plain ? 0 : double{by.weight_decay};
    const double clip = !is_plain && by.max_norm > 0 && norm > double{by.max_norm}
                            ? double{by.max_norm} / norm
                            : 1.0;
    for (std::size_t i = 0; i < dim; ++i) {
      g[i] = g[i] * clip + decay * x[i];
      squares += g[i] * g[i] / static_cast<double>(dim);
    }
    const auto t = static_cast<double>(by.step);
    for (std::size_t i = 0; i < dim; ++i) {
      const double rate{by.learning_rate}, epsilon{by.epsilon}, b1{by.momentum}, b2{by.beta2};
      switch (optimizer) {
        case Optimizer::sgd:
        case Optimizer::plain_sgd:
          x[i] -= rate * g[i];
          break;
        case Optimizer::momentum:
          m[i] = b1 * m[i] + g[i];
          x[i] -= rate * m[i];
          break;
        case Optimizer::adagrad:
          v[i] += g[i] * g[i];
          x[i] -= rate * g[i] / (std::sqrt(v[i]) + epsilon);
          break;
        case Optimizer::row_wise_adagrad:
          v[i] += squares;
          x[i] -= rate * g[i] / (std::sqrt(v[i]) + epsilon);
          break;
        case Optimizer::adam:
          m[i] = b1 * m[i] + (1 - b1) * g[i];
          v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
          x[i] -= rate * (m[i] / (1 - std::pow(b1, t))) /
                  (std::sqrt(v[i] / (1 - std::pow(b2, t))) + epsilon);
          break;
      }
    }
  }
};

TEST_CASE("fifty applied steps with repeated ids are those of a plain float64 optimizer") {
  const std::uint64_t seed = test::seed();
  INFO("JITBAG_TEST_SEED=" << seed);
  Dice dice(seed);
  constexpr std::int64_t dim = 5, num_rows = 9, batch = 12;
  for (const Optimizer optimizer :
       {Optimizer::sgd, Optimizer::plain_sgd, Optimizer::momentum, Optimizer::adagrad,
        Optimizer::row_wise_adagrad, Optimizer::adam}) {
    for (const DataType type : {DataType::float32, DataType::float64}) {
      for (const bool extras : {false, true}) {
        INFO(name(optimizer) << " " << name(type) << " extras " << extras);
        OptimizerParameters by{.learning_rate = 0.05f};
        if (extras) by.weight_decay = 0.01f, by.max_norm = 1.5f;
        PlainStep plain{optimizer, by};
        BackwardSpec spec;
        spec.forward.dim = dim;
        spec.forward.bags = FixedBags{3};
        // Exact in float32: of a gradient that is nearly 0, Adam's first step is the sign.
        spec.forward.pooling = Pooling::sum;
        spec.forward.table_type = type;
        spec.forward.row_stride = dim + 1;
        spec.forward.alignment = size_of(type);
        spec.forward.padding_id = 0;
        spec.table_gradient = AppliedGradient{optimizer};
        std::vector<std::byte> table(
            static_cast<std::size_t>(num_rows * (dim + 1) * size_of(type)));
        std::vector<double> expected(static_cast<std::size_t>(num_rows * (dim + 1)));
        for (std::size_t i = 0; i < expected.size(); ++i) {
          expected[i] = small_number(dice);
          store_number(expected[i], type, table.data() + i * size_of(type));
        }
        const std::vector<double> before = expected;
        const Moments moments = moments_of(optimizer, dim);
        std::vector<float> first(static_cast<std::size_t>(num_rows * moments.first));
        std::vector<float> second(static_cast<std::size_t>(num_rows * moments.second));
        for (by.step = 1; by.step <= 50; ++by.step) {
          std::vector<std::int64_t> ids(batch * 3);
          for (auto& id : ids) id = dice.below(num_rows);
          std::vector<float> gradient(batch * dim);
          for (float& one : gradient) one = static_cast<float>(small_number(dice));
          BackwardArguments arguments;
          arguments.forward.ids = ids.data();
          arguments.forward.num_rows = num_rows;
          arguments.forward.batch = batch;
          arguments.output_gradient = gradient.data();
          arguments.updated_table = table.data();
          arguments.first_moment = first.data();
          arguments.second_moment = second.data();
          arguments.parameters = &by;
          plain.by = by;
          for (const auto& [row, sums] : host::oracle_gradients(spec, arguments).rows) {
            std::vector<double> g;
            for (const auto& element : sums) g.push_back(element.value);
            plain(row, g, expected.data() + row * (dim + 1));
          }
          host::backward(spec, arguments, 2);
        }
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const double actual = load_number(table.data() + i * size_of(type), type);
          INFO("element " << i);
          REQUIRE(actual == Approx(expected[i]).epsilon(1e-4).margin(1e-5));
          const bool is_padding = i < dim, is_gap = i % (dim + 1) == dim;
          if (is_padding || is_gap) REQUIRE(actual == before[i]);
        }
      }
    }
  }
}

TEST_CASE("stochastic rounding keeps steps that are too small for the type, and repeats itself") {
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    Small small;
    small.num_rows = 2000;
    small.spec.forward.table_type = type;
    small.spec.table_gradient = AppliedGradient{Optimizer::sgd, true};
    for (std::int64_t row = 0; row < small.num_rows; ++row) small.ids.push_back(row);
    small.output_gradient.assign(4000, -1.0f);
    small.parameters.learning_rate = 1e-4f;  // an eighth of float16's step at 1, or less
    small.parameters.seed = 7;
    std::vector<std::byte> once(8000);
    for (std::size_t i = 0; i < 4000; ++i) store_number(1.0, type, once.data() + 2 * i);
    std::vector<std::byte> again = once;
    const auto run = [&](std::vector<std::byte>& table, int threads) {
      BackwardArguments arguments = small.arguments();
      arguments.updated_table = table.data();
      for (small.parameters.step = 1; small.parameters.step <= 10; ++small.parameters.step) {
        host::backward(small.spec, arguments, threads);
      }
    };
    run(once, 1);
    run(again, 3);
    CHECK(again == once);
    double sum = 0;
    for (std::size_t i = 0; i < 4000; ++i) sum += load_number(once.data() + 2 * i, type);
    // Of 40,000 roundings by a step of at most 2^-7, six standard deviations.
    const double deviation = std::sqrt(40'000 * 1e-4 * 0x1p-7) / 4000;
    CHECK(sum / 4000 == Approx(1.001).margin(6 * deviation));
  }
}

TEST_CASE("backward refuses a spec that has no gradient") {
  const auto refusal = [](auto change) {
    BackwardSpec spec;
    spec.forward.dim = 4;
    change(spec);
    return caught([&] { static_cast<void>(validated(spec)); });
  };
  CHECK(refusal([](BackwardSpec& spec) { spec.forward.end.element = "x * 2"; }) ==
        "invalid_argument: The spec has an end, \"x * 2\", of which the gradient is not known; "
        "leave it empty and give the gradient of what comes before it.");
  CHECK(refusal([](BackwardSpec& spec) { spec.forward.pooling = Pooling::max; }) ==
        "invalid_argument: The pooling max has a gradient only where its winners are kept; set "
        "winners.");
  CHECK(refusal([](BackwardSpec& spec) { spec.weight_gradient_type = DataType::float32; }) ==
        "invalid_argument: weight_gradient_type is float32, but there are no weights; set "
        "weight_type, or unset it.");
  CHECK(refusal([](BackwardSpec& spec) {
          spec.forward.pooling = Pooling::sum;
          spec.forward.weight_type = DataType::float32;
          spec.weight_gradient_type = DataType::float32;
          spec.table_gradient = ClearedGradient{};
        }) ==
        "invalid_argument: The gradient of the table is cleared, and that of the weights asked "
        "for; ask for it where there is an output_gradient to read.");
  CHECK(refusal([](BackwardSpec& spec) { spec.table_gradient = std::monostate{}; }) ==
        "invalid_argument: The spec asks for no gradient at all; set table_gradient or "
        "weight_gradient_type.");
  CHECK(refusal([](BackwardSpec& spec) { spec.table_gradient = DenseGradient{DataType::int8}; }) ==
        "invalid_argument: The gradient of the table has the type int8; it must be float32, "
        "float16, bfloat16 or float64.");
  CHECK(refusal([](BackwardSpec& spec) {
          spec.table_gradient = DenseGradient{DataType::float32, 3};
        }) ==
        "invalid_argument: The gradient's row_stride is 3; it must be at least dim, 4, and less "
        "than 2^31, or 0 for that.");
  CHECK(refusal([](BackwardSpec& spec) {
          spec.forward.table_type = DataType::int8;
          spec.table_gradient = AppliedGradient{};
        }) ==
        "invalid_argument: The gradient is applied to a table of type int8, which has no gradual "
        "steps; use a float table.");
  CHECK(refusal([](BackwardSpec& spec) {
          spec.table_gradient = AppliedGradient{Optimizer::sgd, true};
        }) ==
        "invalid_argument: stochastic_rounding is set for a table of type float32; it is for "
        "float16 and bfloat16, unset it.");
  CHECK(refusal([](BackwardSpec& spec) {
          spec.table_gradient = AppliedGradient{static_cast<Optimizer>(9)};
        }) == "invalid_argument: 9 is not the number of an Optimizer; use one of its enumerators.");
}

TEST_CASE("the GPU refuses a method that cannot do what a gradient asks for") {
  const Target h200{9, 0};
  BackwardSpec spec;
  spec.forward.dim = 4;
  spec.forward.pooling = Pooling::sum;
  spec.forward.weight_type = DataType::float32;
  const auto refusal = [&](const TableGradient& gradient, BackwardMethod method, auto change) {
    BackwardSpec with = spec;
    with.table_gradient = gradient;
    BackwardStrategy strategy = default_strategy(spec, method, h200);
    change(strategy.shape);
    return caught([&] { validate(strategy, with, h200); });
  };
  const auto as_it_is = [](Strategy&) {};
  CHECK(refusal(SparseGradient{}, BackwardMethod::sort, as_it_is) == "nothing");
  CHECK(refusal(SparseGradient{}, BackwardMethod::scatter, as_it_is) == "nothing");
  CHECK(refusal(AppliedGradient{Optimizer::plain_sgd}, BackwardMethod::merge, as_it_is) ==
        "nothing");
  const auto narrow = [](Strategy& shape) { shape.vector_bytes = 8; };
  for (const TableGradient& once :
       {TableGradient{SparseGradient{DataType::float16}}, TableGradient{AppliedGradient{}}}) {
    CHECK_THAT(refusal(once, BackwardMethod::scatter, narrow),
               Catch::Matchers::StartsWith("invalid_argument: The method is scatter for"));
  }
  CHECK_THAT(refusal(ClearedGradient{}, BackwardMethod::sort, as_it_is),
             Catch::Matchers::StartsWith("invalid_argument: The method is sort for"));
  CHECK(refusal(DenseGradient{}, BackwardMethod::merge, as_it_is) == "nothing");
  CHECK_THAT(refusal(ClearedGradient{}, BackwardMethod::merge, as_it_is),
             Catch::Matchers::EndsWith("which has no sums to be added to in memory; use scatter."));
  CHECK_THAT(refusal(SparseGradient{DataType::float16}, BackwardMethod::merge, narrow),
             Catch::Matchers::EndsWith("which has no sums to be added to in memory; use sort."));
  CHECK_THAT(
      refusal(DenseGradient{}, BackwardMethod::merge, [](Strategy& shape) { shape.bag_lanes = 2; }),
      Catch::Matchers::EndsWith("bag_lanes is 2; in the merge method it is 1."));
  CHECK_THAT(refusal(DenseGradient{}, BackwardMethod::merge,
                     [](Strategy& shape) { shape.bags_per_group = 64; }),
             Catch::Matchers::EndsWith("bags to a block; in the merge method 256 is the most."));
  CHECK(refusal(SparseGradient{}, BackwardMethod::sort,
                [](Strategy& shape) { shape.lanes_per_row = 3; }) ==
        "invalid_argument: The strategy's lanes_per_row is 3; in the sort method it must be a "
        "power of two up to 32.");
  CHECK_THAT(refusal(SparseGradient{}, BackwardMethod::sort,
                     [](Strategy& shape) {
                       shape.lanes_per_row = 1;
                       shape.block_threads = 1024;
                     }),
             Catch::Matchers::Contains("bytes of shared memory; use smaller blocks."));
}

TEST_CASE("the rule for backward merges ids that repeat, or that are many, where it may add them") {
  const Target h200{9, 0};
  BackwardSpec spec;
  spec.forward.dim = 64;
  spec.forward.bags = FixedBags{8};
  const auto method = [&](const ExpectedIds& expected) {
    return default_strategy(spec, h200, expected).method;
  };
  CHECK(method({}) == BackwardMethod::scatter);
  CHECK(method({.batch = 8192}) == BackwardMethod::scatter);
  CHECK(method({.batch = 65536}) == BackwardMethod::merge);
  CHECK(method({.batch = 8192, .top_share = 0.15}) == BackwardMethod::merge);
  CHECK(method({.batch = 65536, .top_share = 1e-5}) == BackwardMethod::scatter);
  CHECK(method({.batch = std::int64_t{1} << 62}) == BackwardMethod::merge);  // 2^65 ids
  CHECK(caught([&] { static_cast<void>(method({.batch = 1, .top_share = 1.5})); }) ==
        "invalid_argument: The expected top_share is 1.5; it is a part of the ids, from 0 to 1.");
  spec.deterministic = true;
  CHECK(method({.batch = 65536}) == BackwardMethod::sort);
  spec.deterministic = false;
  spec.table_gradient = DenseGradient{DataType::bfloat16};
  CHECK(method({.batch = 65536}) == BackwardMethod::sort);
  spec.table_gradient = AppliedGradient{Optimizer::plain_sgd};
  CHECK(method({.batch = 65536}) == BackwardMethod::merge);
  spec.table_gradient = AppliedGradient{Optimizer::sgd};
  CHECK(method({.batch = 8192}) == BackwardMethod::sort);
  spec.table_gradient = SparseGradient{};
  CHECK(method({.batch = 8192}) == BackwardMethod::scatter);
  CHECK(method({}) == BackwardMethod::sort);
  CHECK(method({.batch = 65536}) == BackwardMethod::sort);
  CHECK(method({.batch = 65536, .top_share = 1e-5}) == BackwardMethod::sort);
  CHECK(method({.batch = 8192, .top_share = 0.15}) == BackwardMethod::sort);
  spec.table_gradient = DenseGradient{};
  spec.forward.pooling = Pooling::max;
  spec.forward.winners = true;
  CHECK(method({.batch = 65536}) == BackwardMethod::scatter);
}

TEST_CASE("every method's rule gives a strategy that is valid, for any dim and batch") {
  const Target h200{9, 0};
  BackwardSpec spec;
  for (const DataType type : {DataType::float32, DataType::float64}) {
    for (const std::int64_t dim : {1, 2, 3, 31, 33, 64, 96, 100, 384, 1000, 1025, 4096}) {
      for (const std::int64_t bag : {-1, 0, 1, 5, 64, 5000}) {
        spec.forward.dim = dim;
        spec.forward.bags = bag < 0 ? BagLayout{CsrBags{}} : BagLayout{FixedBags{bag}};
        spec.forward.table_type = type;
        spec.table_gradient = DenseGradient{type};
        INFO(to_text(spec));
        for (const auto method :
             {BackwardMethod::scatter, BackwardMethod::merge, BackwardMethod::sort}) {
          for (const std::int64_t batch : {1, 1000, 65536, 10'000'000}) {
            CHECK(caught([&] {
                    validate(default_strategy(spec, method, h200, batch), spec, h200);
                  }) == "nothing");
          }
        }
      }
    }
  }
}

TEST_CASE("backward refuses pointers that are missing, and says which") {
  const auto refusal = [](const TableGradient& gradient, auto change) {
    Small small;
    small.spec.table_gradient = gradient;
    small.ids = {1};
    small.output_gradient = {1, 1};
    small.rows = {0};
    BackwardArguments arguments = small.arguments();
    change(arguments);
    return caught([&] { host::backward(small.spec, arguments); });
  };
  using Arguments = BackwardArguments;
  const auto is_null = [](const std::string& what) {
    return Catch::Matchers::StartsWith("invalid_argument: " + what + " is a null pointer");
  };
  CHECK_THAT(refusal(DenseGradient{}, [](Arguments& to) { to.table_gradient = nullptr; }),
             is_null("table_gradient"));
  CHECK_THAT(refusal(DenseGradient{}, [](Arguments& to) { to.output_gradient = nullptr; }),
             is_null("output_gradient"));
  CHECK_THAT(refusal(SparseGradient{}, [](Arguments& to) { to.rows = nullptr; }), is_null("rows"));
  CHECK_THAT(refusal(SparseGradient{}, [](Arguments& to) { to.count = nullptr; }),
             is_null("count"));
  const AppliedGradient adam{Optimizer::adam};
  CHECK_THAT(refusal(adam, [](Arguments& to) { to.first_moment = nullptr; }),
             is_null("first_moment"));
  CHECK_THAT(refusal(adam, [](Arguments& to) { to.second_moment = nullptr; }),
             is_null("second_moment"));
  CHECK_THAT(refusal(adam, [](Arguments& to) { to.parameters = nullptr; }), is_null("parameters"));
  CHECK_THAT(refusal(adam, [](Arguments& to) { to.updated_table = nullptr; }),
             is_null("updated_table"));
}

TEST_CASE("an optimizer has a name, by which it is found") {
  for (int i = 0; i <= static_cast<int>(Optimizer::adam); ++i) {
    const auto optimizer = static_cast<Optimizer>(i);
    CHECK(parse_optimizer(name(optimizer)) == optimizer);
  }
  CHECK(caught([] { static_cast<void>(parse_optimizer("adamw")); }) ==
        "invalid_argument: \"adamw\" is not an optimizer; use one of: sgd, plain_sgd, momentum, "
        "adagrad, "
        "row_wise_adagrad, adam.");
}

}  // namespace
}  // namespace jitbag
