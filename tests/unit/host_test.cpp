#include "jitbag/host.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support/caught.hpp"
#include "support/forward_case.hpp"
#include "support/seed.hpp"

namespace jitbag {
namespace {

using test::caught;
using test::ForwardCase;
using test::ForwardCaseOptions;
using test::make_forward_case;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t roll() { return engine_(); }
  bool chance(int one_in) { return engine_() % static_cast<std::uint64_t>(one_in) == 0; }

  template <class Value>
  Value pick(std::initializer_list<Value> values) {
    return values.begin()[engine_() % values.size()];
  }

 private:
  std::mt19937_64 engine_;
};

BagLayout random_layout(Dice& dice) {
  if (dice.chance(2)) return FixedBags{dice.pick<std::int64_t>({0, 1, 2, 3, 4, 8, 31, 33, 300})};
  return CsrBags{dice.pick({IntegerType::int32, IntegerType::int64}),
                 dice.pick({OffsetsEnd::included, OffsetsEnd::implied})};
}

ForwardCaseOptions random_options(std::int64_t dim, Dice& dice) {
  const auto types = {DataType::float32, DataType::float16, DataType::bfloat16};
  ForwardCaseOptions options;
  options.num_rows = dice.pick<std::int64_t>({1, 2, 50, 200});
  ForwardSpec& spec = options.spec;
  spec.dim = dim;
  spec.bags = random_layout(dice);
  spec.table_type = dice.pick(types);
  spec.output_type = dice.pick(types);
  spec.id_type = dice.pick({IntegerType::int32, IntegerType::int64});
  if (dice.chance(2)) spec.padding_id = dice.pick<std::int64_t>({0, -1, options.num_rows});
  spec.bad_ids = dice.pick({BadIds::skip, BadIds::report, BadIds::trust});
  if (dice.chance(2)) spec.row_stride = dim + dice.pick<std::int64_t>({1, 3, 8});
  if (dice.chance(2)) spec.addressing = Addressing::bits32;
  if (dice.chance(2)) {
    spec.alignment = size_of(spec.table_type);
    options.table_misalignment = 1;
    options.ids_misalignment = 1;
  }
  options.batch = dice.pick<std::int64_t>({0, 1, 3, 20});
  options.longest_bag = dice.pick<std::int64_t>({1, 9, 40});
  options.mix.padding = dice.pick({0.0, 0.3, 1.0});
  options.mix.bad = dice.pick({0.0, 0.0, 0.1});
  options.poison_after = dice.chance(2);
  options.broken_offsets = spec.bad_ids != BadIds::trust && dice.chance(4);
  options.seed = dice.roll();
  return options;
}

/// Runs the backend in a poisoned output, aligned no better than the spec says, with poisoned
/// surroundings, and checks all of it.
void check_forward(const ForwardCase& given, int threads) {
  INFO(given.description << " threads=" << threads);
  constexpr std::size_t guard = 64;
  const std::int64_t step = std::max(given.spec.alignment, size_of(given.spec.output_type));
  const std::size_t begin = guard + static_cast<std::size_t>(step);
  std::vector<std::byte> buffer(begin + given.output_bytes() + guard);
  test::poison(buffer);
  const std::span<std::byte> output(buffer.data() + begin, given.output_bytes());

  const auto outcome =
      caught([&] { host::forward(given.spec, given.host_arguments(output.data()), threads); });
  const bool must_report = given.spec.bad_ids == BadIds::report && given.has_bad_id;
  if (must_report) {
    CHECK(outcome.rfind("bad_id: id ", 0) == 0);
  } else {
    CHECK(outcome == "nothing");
  }
  CHECK(test::check_output(given, output) == "");
  std::fill(output.begin(), output.end(), std::byte{0xff});
  CHECK(buffer == std::vector<std::byte>(buffer.size(), std::byte{0xff}));
}

TEST_CASE("the CPU backend agrees with the oracle over a random matrix of specs") {
  const std::uint64_t seed = test::seed();
  INFO("JITBAG_TEST_SEED=" << seed);
  Dice dice(seed);
  for (const std::int64_t dim : {1, 2, 3, 5, 7, 8, 32, 33, 36, 64, 100, 128, 514, 1023, 1025}) {
    for (int draw = 0; draw < 60; ++draw) {
      check_forward(make_forward_case(random_options(dim, dice)), dice.pick({1, 2, 3}));
    }
  }
}

TEST_CASE("a case has all that it promises") {
  ForwardCaseOptions options;
  options.spec.dim = 3;
  options.spec.bags = CsrBags{};
  options.spec.padding_id = 0;
  options.spec.row_stride = 5;
  options.batch = 200;
  options.num_rows = 1000;
  options.seed = test::seed();
  const ForwardCase first = make_forward_case(options);
  CHECK(first.ids.buffer == make_forward_case(options).ids.buffer);
  CHECK(first.table.buffer == make_forward_case(options).table.buffer);
  CHECK(first.has_bad_id);
  CHECK(first.bag_sizes.front() == 0);
  CHECK(first.bag_sizes.back() == 0);
  CHECK(first.bag_sizes[99] == 0);
  CHECK(first.bag_sizes[100] == 0);

  options.spec.bad_ids = BadIds::trust;
  CHECK_FALSE(make_forward_case(options).has_bad_id);
}

TEST_CASE("the check of an output finds one wrong element, and a NaN") {
  ForwardCaseOptions options;
  options.spec.dim = 8;
  options.spec.bags = FixedBags{4};
  options.batch = 3;
  options.num_rows = 10;
  const ForwardCase given = make_forward_case(options);
  std::vector<float> output(24);
  host::forward(given.spec, given.host_arguments(output.data()));
  const auto bytes = std::as_bytes(std::span(output));
  REQUIRE(test::check_output(given, bytes) == "");

  const float right = output[13];
  output[13] = right + 0x1p-19f;
  CHECK(test::check_output(given, bytes).rfind("Bag 1 column 5 is ", 0) == 0);
  output[13] = std::numeric_limits<float>::quiet_NaN();
  CHECK(test::check_output(given, bytes).rfind("Bag 1 column 5 is nan instead of ", 0) == 0);
}

TEST_CASE("the CPU backend gives the same bits with any number of threads") {
  ForwardCaseOptions options;
  options.spec.dim = 36;
  options.spec.bags = CsrBags{};
  options.batch = 301;
  options.num_rows = 100;
  options.longest_bag = 20;
  const ForwardCase given = make_forward_case(options);
  std::vector<std::byte> once(given.output_bytes());
  host::forward(given.spec, given.host_arguments(once.data()), 1);
  for (const int threads : {0, 2, 5, 64}) {
    std::vector<std::byte> again(given.output_bytes());
    host::forward(given.spec, given.host_arguments(again.data()), threads);
    CHECK(again == once);
  }
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
  const ForwardArguments arguments{.table = table.data(),
                                   .num_rows = 4,
                                   .ids = ids.data(),
                                   .num_ids = 0,
                                   .offsets = nullptr,
                                   .output = output.data(),
                                   .batch = 4};
  output.fill(-1);
  CHECK(caught([&] { host::forward(spec, arguments, 3); }) ==
        "bad_id: id -7 at position 1 of bag 2 is outside the table's 4 rows; correct the ids, or "
        "set bad_ids to skip.");
  CHECK(output == std::array<float, 4>{1, 2.5, 2, 0});
}

TEST_CASE("the CPU backend lets NaN and infinity through") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::array<float, 4> table{std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, 1};
  const std::array<std::int64_t, 8> ids{0, 3, 1, 3, 1, 2, 3, 3};
  ForwardSpec spec;
  spec.dim = 1;
  spec.bags = FixedBags{2};
  spec.alignment = 4;
  spec.output_type = DataType::float16;
  std::array<std::uint16_t, 4> output{};
  host::forward(spec, {.table = table.data(),
                       .num_rows = 4,
                       .ids = ids.data(),
                       .num_ids = 0,
                       .offsets = nullptr,
                       .output = output.data(),
                       .batch = 4});
  CHECK(std::isnan(host::float_from_float16(output[0])));
  CHECK(host::float_from_float16(output[1]) == infinity);
  CHECK(std::isnan(host::float_from_float16(output[2])));
  CHECK(host::float_from_float16(output[3]) == 1);
}

TEST_CASE("nothing to do is done, and a table without rows gives zeros") {
  ForwardSpec spec;
  spec.dim = 3;
  spec.bags = CsrBags{};
  CHECK(caught([&] { host::forward(spec, {}); }) == "nothing");
  spec.dim = 0;
  CHECK(caught([&] { host::forward(spec, {}); }) == "nothing");

  ForwardCaseOptions options;
  options.spec.dim = 3;
  options.spec.bags = FixedBags{2};
  options.batch = 4;
  options.num_rows = 0;
  check_forward(make_forward_case(options), 1);
}

TEST_CASE("the CPU backend refuses what can never work") {
  ForwardSpec spec;
  spec.dim = -4;
  CHECK(caught([&] { host::forward(spec, {}); }) ==
        "invalid_argument: dim is -4; it must be at least 0 and less than 2^28.");
  spec.dim = 4;
  CHECK(caught([&] { host::forward(spec, {.batch = 2}); }) ==
        "invalid_argument: ids is a null pointer although it has 2 elements; pass its address.");
  CHECK(caught([&] { host::forward(spec, {}, -1); }) ==
        "invalid_argument: threads is -1; it must be 0, for one on each core, or more.");
}

}  // namespace
}  // namespace jitbag
