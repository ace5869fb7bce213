#include "jitbag/host.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "host_case.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"

namespace jitbag {
namespace {

using test::caught;
using test::Dice;
using test::HostCase;
using test::load_number;
using test::make_host_case;
using test::Precision;
using test::precision;
using test::random_spec;

/// The expected elements of a case, NaN where the operator leaves them as they are.
struct Expected {
  explicit Expected(const HostCase& given, std::int64_t rows)
      : values(static_cast<std::size_t>(rows * output_width(given.spec)), unwritten),
        magnitudes(values.size(), 0),
        winners(static_cast<std::size_t>(given.batch * given.spec.dim), -2) {
    host::oracle(given.spec, given.arguments(), values.data(), magnitudes.data(), winners.data());
  }
  static constexpr double unwritten = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values, magnitudes;
  std::vector<std::int64_t> winners;
};

std::int64_t longest_bag(const HostCase& given) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(given.ids.size()));
}

/// The first element that is not what it should be, or nothing.
std::string difference(const HostCase& given, const Expected& expected, std::int64_t rows,
                       const std::vector<std::byte>& output) {
  const ForwardSpec& spec = given.spec;
  const Precision sums =
      precision(spec.table_type == DataType::float64 ? DataType::float64 : DataType::float32);
  const Precision stored = precision(spec.output_type);
  const std::int64_t width = output_width(spec);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < spec.output_stride; ++i) {
      const std::int64_t at = (row * spec.output_stride + i) * size_of(spec.output_type);
      if (at >= static_cast<std::int64_t>(output.size())) continue;  // the last row's gap
      const double actual = load_number(output.data() + at, spec.output_type);
      const auto index = static_cast<std::size_t>(row * width + i);
      const double wanted = i < width ? expected.values[index] : Expected::unwritten;
      if (std::isnan(wanted) && std::isnan(actual)) continue;
      const double exact = 2 * static_cast<double>(longest_bag(given)) + 8;
      const double before = i < width ? exact * sums.relative * expected.magnitudes[index] : 0.0;
      const double allowed =
          before + stored.relative * (std::abs(wanted) + before) + stored.smallest;
      if (std::abs(actual - wanted) <= allowed) continue;
      if (std::isinf(actual) && std::abs(wanted) >= stored.overflow) continue;
      return "row " + std::to_string(row) + " element " + std::to_string(i) + " is " +
             std::to_string(actual) + " instead of " + std::to_string(wanted);
    }
  }
  return {};
}

std::int64_t output_rows(const HostCase& given) {
  return given.spec.pooling.has(Pooling::none) ? static_cast<std::int64_t>(given.ids.size())
                                               : given.batch;
}

/// Output of a case, poisoned before, with poison after it.
struct Outputs {
  static constexpr std::size_t guard = 64;

  explicit Outputs(const HostCase& given) {
    const std::int64_t rows = output_rows(given);
    const std::int64_t elements = rows * given.spec.output_stride;
    elements_bytes = static_cast<std::size_t>(elements * size_of(given.spec.output_type));
    output.assign(elements_bytes + guard, std::byte{0xff});
    const std::int64_t ids = given.spec.winners ? given.batch * given.spec.dim : 0;
    winners_bytes = static_cast<std::size_t>(ids * size_of(given.spec.id_type));
    winners.assign(winners_bytes + guard, std::byte{0xff});
  }

  [[nodiscard]] bool guards_hold() const {
    const auto is_poison = [](std::byte byte) { return byte == std::byte{0xff}; };
    return std::all_of(output.begin() + static_cast<std::ptrdiff_t>(elements_bytes), output.end(),
                       is_poison) &&
           std::all_of(winners.begin() + static_cast<std::ptrdiff_t>(winners_bytes), winners.end(),
                       is_poison);
  }

  std::size_t elements_bytes = 0, winners_bytes = 0;
  std::vector<std::byte> output, winners;
};

std::string run(const HostCase& given, Outputs& outputs, int threads) {
  ForwardArguments arguments = given.arguments();
  arguments.output = outputs.output.data();
  arguments.winners = outputs.winners.data();
  return caught([&] { host::forward(given.spec, arguments, threads); });
}

void check_winners(const HostCase& given, const Expected& expected, const Outputs& outputs) {
  if (!given.spec.winners) return;
  const std::int64_t batch = given.spec.counts == Counts::on_device
                                 ? std::clamp<std::int64_t>(given.counts[0], 0, given.batch)
                                 : given.batch;
  for (std::int64_t i = 0; i < given.batch * given.spec.dim; ++i) {
    const bool is_64_bit = given.spec.id_type == IntegerType::int64;
    const std::int64_t actual =
        is_64_bit ? reinterpret_cast<const std::int64_t*>(outputs.winners.data())[i]
                  : reinterpret_cast<const std::int32_t*>(outputs.winners.data())[i];
    INFO("winner " << i);
    // Poison is -1 as well: beyond the batch the oracle tells that nothing was written.
    const bool is_written = i < batch * given.spec.dim;
    REQUIRE(expected.winners[static_cast<std::size_t>(i)] == (is_written ? actual : -2));
    if (!is_written) REQUIRE(actual == -1);
  }
}

/// Runs a case and checks everything that it wrote, and did not.
void check_forward(const HostCase& given, int threads) {
  INFO(to_text(given.spec) << " batch=" << given.batch << " rows=" << given.num_rows
                           << " ids=" << given.ids.size() << " threads=" << threads);
  Outputs outputs(given);
  const std::string outcome = run(given, outputs, threads);
  const bool reports = given.spec.bad_ids == BadIds::report;
  CHECK(outcome == (reports ? test::expected_report(given) : "nothing"));
  const Expected expected(given, output_rows(given));
  CHECK(difference(given, expected, output_rows(given), outputs.output) == "");
  check_winners(given, expected, outputs);
  CHECK(outputs.guards_hold());
}

TEST_CASE("the CPU backend agrees with the oracle over a random matrix of specs") {
  const std::uint64_t seed = test::seed();
  INFO("JITBAG_TEST_SEED=" << seed);
  Dice dice(seed);
  for (const std::int64_t dim : {1, 2, 3, 5, 7, 8, 32, 33, 36, 64, 100, 257}) {
    for (int draw = 0; draw < 120; ++draw) {
      check_forward(make_host_case(random_spec(dim, dice), dice), dice.pick({1, 2, 3}));
    }
  }
}

TEST_CASE("the CPU backend gives the same bits with any number of threads") {
  Dice dice(test::seed());
  for (const Poolings pooling :
       {Poolings{Pooling::mean}, Poolings{Pooling::none}, Poolings{Pooling::sum, Pooling::max}}) {
    ForwardSpec spec;
    spec.dim = 36;
    spec.bags = CsrBags{};
    spec.pooling = pooling;
    HostCase given = make_host_case(spec, dice);
    while (given.batch < 20) given = make_host_case(spec, dice);
    Outputs once(given);
    REQUIRE(run(given, once, 1) == "nothing");
    for (const int threads : {0, 2, 5, 64}) {
      Outputs again(given);
      REQUIRE(run(given, again, threads) == "nothing");
      CHECK(again.output == once.output);
    }
  }
}

/// Fixed bags over a small float32 table.
struct Small {
  ForwardSpec spec;
  std::vector<float> table;
  std::vector<std::int64_t> ids;
  std::vector<float> weights = {};

  [[nodiscard]] std::vector<float> run() const {
    const auto& bags = std::get<FixedBags>(spec.bags);
    ForwardArguments arguments;
    arguments.table = table.data();
    arguments.num_rows = static_cast<std::int64_t>(table.size()) / spec.dim;
    arguments.ids = ids.data();
    arguments.batch = static_cast<std::int64_t>(ids.size()) / bags.size;
    arguments.weights = weights.data();
    const std::int64_t rows =
        spec.pooling.has(Pooling::none) ? static_cast<std::int64_t>(ids.size()) : arguments.batch;
    std::vector<float> output(static_cast<std::size_t>(rows * output_width(spec)));
    arguments.output = output.data();
    host::forward(spec, arguments);
    return output;
  }
};

Small small(std::int64_t dim, std::int64_t bag, Poolings pooling) {
  Small result;
  result.spec.dim = dim;
  result.spec.bags = FixedBags{bag};
  result.spec.pooling = pooling;
  result.spec.alignment = 4;
  return result;
}

TEST_CASE("a sum is the mean times the count, and times its root the mean by that") {
  Small given = small(1, 4, {Pooling::sum, Pooling::mean, Pooling::mean_by_sqrt});
  given.spec.padding_id = 0;
  given.table = {100, 2, 3, 5};
  given.ids = {1, 2, 3, 1, 0, 0, 3, 3, 0, 0, 0, 0};
  CHECK(given.run() == std::vector<float>{12, 3, 6, 10, 5, 10 / std::sqrt(2.0f), 0, 0, 0});
}

TEST_CASE("the sums over a table of ones are the counts") {
  Small given = small(3, 5, Pooling::sum);
  given.spec.padding_id = 2;
  given.table.assign(9, 1.0f);
  given.ids = {0, 1, 2, 7, -1, 0, 0, 0, 1, 1};
  CHECK(given.run() == std::vector<float>{2, 2, 2, 5, 5, 5});
}

TEST_CASE("without pooling every row is there as it is, zeros in place of padding and bad ids") {
  Small given = small(2, 3, Pooling::none);
  given.spec.padding_id = 1;
  given.table = {-0.0f, 2, 3, 4, 5, 6};
  given.ids = {2, 1, 0, 9, 2, 2};
  const std::vector<float> rows = given.run();
  CHECK(rows == std::vector<float>{5, 6, 0, 0, 0, 2, 0, 0, 5, 6, 5, 6});
  CHECK(std::signbit(rows[4]));
}

TEST_CASE("the weights of ids that are not counted do not matter") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Small given = small(1, 4, {Pooling::sum, Pooling::mean, Pooling::mean_by_weights});
  given.spec.weight_type = DataType::float32;
  given.spec.padding_id = 0;
  given.table = {nan, 2, 3};
  given.ids = {0, 1, 2, 5, 0, 0, 0, 0, 1, 2, 0, 0};
  given.weights = {nan, 0.5f, 2, nan, nan, nan, nan, nan, 1, -1, nan, nan};
  const auto output = given.run();
  CHECK(std::vector<float>(output.begin(), output.begin() + 6) ==
        std::vector<float>{7, 3.5f, 2.8f, 0, 0, 0});
  CHECK(output[6] == -1);
  CHECK(output[8] == -std::numeric_limits<float>::infinity());  // -1 / 0, in plain arithmetic
}

TEST_CASE("the CPU backend keeps float64 sums of a float64 table") {
  const std::array<double, 3> table{1e16, 1, -1e16};
  const std::array<std::int64_t, 3> ids{0, 2, 1};
  ForwardSpec spec;
  spec.dim = 1;
  spec.bags = FixedBags{3};
  spec.pooling = {Pooling::sum, Pooling::max};
  spec.table_type = spec.output_type = DataType::float64;
  spec.alignment = 8;
  std::array<double, 2> output{};
  host::forward(spec, {.table = table.data(),
                       .num_rows = 3,
                       .ids = ids.data(),
                       .output = output.data(),
                       .batch = 1});
  CHECK(output == std::array<double, 2>{1, 1e16});
}

TEST_CASE("the CPU backend reports the first bad id after all outputs are written") {
  const std::array<float, 4> table{1, 2, 3, 4};
  const std::array<std::int64_t, 8> ids{0, -1, 3, 0, 1, -7, 4, 5};
  ForwardSpec spec;
  spec.dim = 1;
  spec.bags = FixedBags{2};
  spec.padding_id = -1;
  spec.bad_ids = BadIds::report;
  spec.alignment = 4;
  std::array<float, 4> output{};
  const ForwardArguments arguments{
      .table = table.data(), .num_rows = 4, .ids = ids.data(), .output = output.data(), .batch = 4};
  output.fill(-1);
  CHECK(caught([&] { host::forward(spec, arguments, 3); }) ==
        "bad_id: id -7 at position 1 of bag 2 is outside the table's 4 rows; correct the ids, or "
        "set bad_ids to skip.");
  CHECK(output == std::array<float, 4>{1, 2.5, 2, 0});
}

TEST_CASE(
    "a bag in the wrong place is reported before the bad ids in it, the good ones are right") {
  const std::array<float, 4> table{1, 2, 3, 4};
  const std::array<std::int64_t, 4> ids{0, 1, 9, 3};
  std::array<std::int64_t, 4> offsets{0, 2, 9, 4};
  ForwardSpec spec;
  spec.dim = 1;
  spec.bags = CsrBags{};
  spec.bad_ids = BadIds::report;
  spec.alignment = 4;
  std::array<float, 3> output{};
  const ForwardArguments arguments{.table = table.data(),
                                   .num_rows = 4,
                                   .ids = ids.data(),
                                   .num_ids = 4,
                                   .offsets = offsets.data(),
                                   .output = output.data(),
                                   .batch = 3};
  CHECK(caught([&] { host::forward(spec, arguments); }) ==
        "bad_offset: the offsets say that bag 1 begins at id 2 and ends before id 9, but there "
        "are 4 ids and no bag ends before it begins; correct the offsets, or set bad_ids to skip.");
  CHECK(output == std::array<float, 3>{1.5f, 4, 0});
  offsets = {0, 3, 2, 4};
  CHECK(caught([&] { host::forward(spec, arguments); }).rfind("bad_id: id 9 at position 2 of", 0) ==
        0);
  CHECK(output == std::array<float, 3>{1.5f, 0, 4});
}

TEST_CASE("without pooling a bad id is reported with the bag that holds it, empty ones aside") {
  const float table = 1;
  const std::array<std::int64_t, 6> ids{7, 0, 0, 0, 5, 6};
  const std::array<std::int64_t, 6> offsets{1, 2, 2, 2, 5, 6};
  ForwardSpec spec;
  spec.dim = 1;
  spec.bags = CsrBags{};
  spec.pooling = Pooling::none;
  spec.bad_ids = BadIds::report;
  spec.alignment = 4;
  std::array<float, 6> output{};
  output.fill(-1);
  CHECK(caught([&] {
          host::forward(spec, {.table = &table,
                               .num_rows = 1,
                               .ids = ids.data(),
                               .num_ids = 6,
                               .offsets = offsets.data(),
                               .output = output.data(),
                               .batch = 5});
        }).rfind("bad_id: id 5 at position 2 of bag 3 is outside", 0) == 0);
  CHECK(output == std::array<float, 6>{-1, 1, 1, 1, 0, 0});
}

TEST_CASE("the CPU backend lets NaN and infinity through") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Small given = small(1, 2, Pooling::mean);
  given.table = {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, 1};
  given.ids = {0, 3, 1, 3, 1, 2, 3, 3};
  const auto means = given.run();
  CHECK(std::isnan(means[0]));
  CHECK(means[1] == infinity);
  CHECK(std::isnan(means[2]));
  CHECK(means[3] == 1);
}

TEST_CASE("of several NaNs the first one wins a maximum, and of equal elements") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> table{nan, 1, 2, 2, nan, -std::numeric_limits<float>::infinity()};
  const std::array<std::int32_t, 12> ids{1, 4, 0, 2, 3, 1, 5, 5, 7, 0, 4, 5};
  ForwardSpec spec;
  spec.dim = 1;
  spec.bags = FixedBags{3};
  spec.pooling = Pooling::max;
  spec.winners = true;
  spec.id_type = IntegerType::int32;
  spec.alignment = 4;
  std::array<float, 4> output{};
  std::array<std::int32_t, 4> winners{};
  host::forward(spec, {.table = table.data(),
                       .num_rows = 6,
                       .ids = ids.data(),
                       .output = output.data(),
                       .batch = 4,
                       .winners = winners.data()});
  CHECK(winners == std::array<std::int32_t, 4>{4, 2, 5, 0});
  CHECK(std::isnan(output[0]));
  CHECK(output[1] == 2);
  CHECK(output[2] == table[5]);
}

TEST_CASE("nothing to do is done, and a table without rows gives zeros") {
  ForwardSpec spec;
  spec.dim = 3;
  spec.bags = CsrBags{};
  for (const Pooling pooling : {Pooling::mean, Pooling::max, Pooling::none}) {
    spec.pooling = pooling;
    CHECK(caught([&] { host::forward(spec, {}); }) == "nothing");
  }
  spec.dim = 0;
  CHECK(caught([&] { host::forward(spec, {}); }) == "nothing");

  Small given = small(3, 2, {Pooling::max, Pooling::sum});
  given.ids = {0, 1, 2, 3};
  CHECK(given.run() == std::vector<float>(12, 0.0f));
}

TEST_CASE("the CPU backend refuses what can never work") {
  ForwardSpec spec;
  spec.dim = -4;
  CHECK(
      caught([&] { host::forward(spec, {}); }) ==
      "invalid_argument: dim is -4; it must be at least 0 and less than 2^28 (2^27 for float64).");
  spec.dim = 4;
  CHECK(caught([&] { host::forward(spec, {.batch = 2}); }) ==
        "invalid_argument: ids is a null pointer although it has 2 elements; pass its address.");
  CHECK(caught([&] { host::forward(spec, {}, -1); }) ==
        "invalid_argument: threads is -1; it must be 0, for one on each core, or more.");
  spec.end.element = "x * 2";
  CHECK(caught([&] { host::forward(spec, {}); }) ==
        "invalid_argument: The spec has an end, \"x * 2\", which is CUDA and does not run on the "
        "CPU; leave it empty here.");
}

}  // namespace
}  // namespace jitbag
