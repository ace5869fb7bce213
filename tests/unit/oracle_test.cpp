#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "jitbag/host.hpp"
#include "support/caught.hpp"

namespace jitbag {
namespace {

using Rows = std::vector<float>;
using Ids = std::vector<std::int64_t>;
using Values = std::vector<double>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// A float32 table with rows of two.
const Rows table{1, 10, 2, 20, -4, 40, 8, 80};

ForwardSpec spec_of_two(BagLayout bags) {
  ForwardSpec spec;
  spec.dim = 2;
  spec.bags = bags;
  spec.alignment = 4;
  return spec;
}

Values run(const ForwardSpec& spec, const Rows& rows, const Ids& ids, const Ids& offsets,
           std::int64_t batch, Values* magnitudes = nullptr) {
  ForwardArguments arguments;
  const std::int64_t stride = spec.row_stride == 0 ? spec.dim : spec.row_stride;
  arguments.table = rows.data();
  arguments.num_rows = static_cast<std::int64_t>(rows.size()) / stride;
  arguments.ids = ids.data();
  arguments.num_ids = static_cast<std::int64_t>(ids.size());
  arguments.offsets = offsets.data();
  arguments.batch = batch;
  Values expected(static_cast<std::size_t>(batch * spec.dim), -1);
  if (magnitudes != nullptr) magnitudes->assign(expected.size(), -1);
  host::oracle(spec, arguments, expected.data(),
               magnitudes != nullptr ? magnitudes->data() : nullptr);
  return expected;
}

TEST_CASE("the oracle divides the sum of a bag's rows by their number") {
  Values magnitudes;
  const auto means = run(spec_of_two(FixedBags{2}), table, {0, 1, 2, 2, 3, 2}, {}, 3, &magnitudes);
  CHECK(means == Values{1.5, 15, -4, 40, 2, 60});
  CHECK(magnitudes == Values{1.5, 15, 4, 40, 6, 60});
}

TEST_CASE("the oracle neither adds nor counts padding") {
  auto spec = spec_of_two(FixedBags{3});
  spec.padding_id = 0;
  CHECK(run(spec, table, {0, 1, 3, 0, 0, 0}, {}, 2) == Values{5, 50, 0, 0});
  spec.padding_id = -1;
  for (const auto policy : {BadIds::skip, BadIds::report, BadIds::trust}) {
    spec.bad_ids = policy;
    CHECK(run(spec, table, {-1, 1, 3, -1, -1, -1}, {}, 2) == Values{5, 50, 0, 0});
  }
}

TEST_CASE("the oracle neither adds nor counts bad ids, and refuses them where they are trusted") {
  auto spec = spec_of_two(FixedBags{4});
  const Ids ids{-1, 1, 4, 3};
  CHECK(run(spec, table, ids, {}, 1) == Values{5, 50});
  spec.bad_ids = BadIds::report;
  CHECK(run(spec, table, ids, {}, 1) == Values{5, 50});
  spec.bad_ids = BadIds::trust;
  CHECK(test::caught([&] { (void)run(spec, table, ids, {}, 1); }) ==
        "bad_id: id -1 at position 0 of bag 0 is outside the table's 4 rows; correct the ids, or "
        "set bad_ids to skip.");
}

TEST_CASE("the oracle reads CSR bags between their offsets") {
  const Ids ids{99, 0, 1, 2, 3, 99};
  CHECK(run(spec_of_two(CsrBags{}), table, ids, {1, 3, 3, 5}, 3) == Values{1.5, 15, 0, 0, 2, 60});
  const CsrBags implied{IntegerType::int64, OffsetsEnd::implied};
  CHECK(run(spec_of_two(implied), table, {99, 0, 1, 2, 3}, {1, 3}, 2) == Values{1.5, 15, 2, 60});
}

TEST_CASE(
    "the oracle moves offsets outside the ids to their ends, and a bag that ends before it "
    "begins is empty") {
  const Ids ids{0, 1, 2, 3};
  CHECK(run(spec_of_two(CsrBags{}), table, ids, {-7, 2, 1, 9, 12}, 4) ==
        Values{1.5, 15, 0, 0, 2, 140.0 / 3, 0, 0});
}

TEST_CASE("the oracle keeps to the row stride and to its dim") {
  auto spec = spec_of_two(FixedBags{2});
  spec.dim = 1;
  spec.row_stride = 2;
  CHECK(run(spec, table, {0, 2}, {}, 1) == Values{-1.5});
}

TEST_CASE("the oracle lets NaN and infinity through, and unread rows do not matter") {
  const Rows rows{nan, 1, infinity, 2, 3, -infinity, nan, nan};
  const auto means = run(spec_of_two(FixedBags{2}), rows, {0, 2, 1, 2, 2, 2}, {}, 3);
  CHECK(std::isnan(means[0]));
  CHECK(means[1] == -std::numeric_limits<double>::infinity());
  CHECK(means[2] == std::numeric_limits<double>::infinity());
  CHECK(means[4] == 3);
}

TEST_CASE("the oracle reads float16 and bfloat16 tables and int32 ids") {
  const std::array<std::int32_t, 3> ids{0, 1, 2};
  ForwardSpec spec;
  spec.dim = 1;
  spec.bags = FixedBags{3};
  spec.id_type = IntegerType::int32;
  spec.alignment = 2;
  double mean = 0;
  ForwardArguments arguments;
  arguments.num_rows = 3;
  arguments.ids = ids.data();
  arguments.batch = 1;

  const std::array<std::uint16_t, 3> halves{0x3c00, 0x4000, 0xc800};  // 1, 2, -8
  spec.table_type = DataType::float16;
  arguments.table = halves.data();
  host::oracle(spec, arguments, &mean);
  CHECK(mean == -5.0 / 3);

  const std::array<std::uint16_t, 3> brains{0x3f80, 0x4000, 0xc100};  // 1, 2, -8
  spec.table_type = DataType::bfloat16;
  arguments.table = brains.data();
  host::oracle(spec, arguments, &mean);
  CHECK(mean == -5.0 / 3);
}

TEST_CASE("the oracle writes zeros for bags of no ids, and nothing for no bags or no columns") {
  CHECK(run(spec_of_two(FixedBags{0}), table, {}, {}, 2) == Values{0, 0, 0, 0});
  CHECK(run(spec_of_two(FixedBags{2}), {}, {0, 1}, {}, 1) == Values{0, 0});
  CHECK(run(spec_of_two(FixedBags{2}), table, {}, {}, 0).empty());
  auto no_columns = spec_of_two(FixedBags{1});
  no_columns.dim = 0;
  no_columns.row_stride = 2;
  CHECK(run(no_columns, table, {1}, {}, 1).empty());
}

/// A hand-made case: fixed bags of three over a table of one column.
ForwardSpec column_of(Poolings pooling) {
  ForwardSpec spec;
  spec.dim = 1;
  spec.bags = FixedBags{3};
  spec.pooling = pooling;
  spec.alignment = 4;
  return spec;
}

struct Outcome {
  Values expected, magnitudes;
  Ids winners;
};

Outcome pool(const ForwardSpec& spec, const Rows& rows, const Ids& ids, const Rows& weights = {}) {
  ForwardArguments arguments;
  arguments.table = rows.data();
  arguments.num_rows = static_cast<std::int64_t>(rows.size()) / spec.dim;
  arguments.ids = ids.data();
  arguments.weights = weights.data();
  arguments.batch = static_cast<std::int64_t>(ids.size()) / std::get<FixedBags>(spec.bags).size;
  const bool pools = !spec.pooling.has(Pooling::none);
  const auto outputs = pools ? static_cast<std::size_t>(arguments.batch) : ids.size();
  Outcome outcome;
  outcome.expected.assign(outputs * static_cast<std::size_t>(output_width(spec)), -99);
  outcome.magnitudes = outcome.expected;
  outcome.winners.assign(static_cast<std::size_t>(arguments.batch * spec.dim), -99);
  host::oracle(spec, arguments, outcome.expected.data(), outcome.magnitudes.data(),
               outcome.winners.data());
  return outcome;
}

TEST_CASE("the oracle divides sums by the count, its root, a length, and puts poolings in order") {
  auto spec = column_of(
      {Pooling::mean_by_length, Pooling::sum, Pooling::mean_by_sqrt, Pooling::mean, Pooling::max});
  spec.mean_length = 8;
  spec.padding_id = 0;
  const auto outcome = pool(spec, {nan, 6, -2}, {1, 0, 2, 0, 0, 0});
  CHECK(outcome.expected == Values{0.5, 4, 4 / std::sqrt(2.0), 2, 6, 0, 0, 0, 0, 0});
  CHECK(outcome.magnitudes == Values{1, 8, 8 / std::sqrt(2.0), 4, 6, 0, 0, 0, 0, 0});
}

TEST_CASE("the oracle multiplies rows by their weights, which divide a mean by weights alone") {
  auto spec = column_of({Pooling::sum, Pooling::mean, Pooling::mean_by_weights});
  spec.weight_type = DataType::float32;
  spec.padding_id = 0;
  const auto outcome = pool(spec, {nan, 6, -2}, {1, 0, 2, 0, 0, 0, 1, 2, 0},
                            {0.5f, nan, 2, nan, nan, nan, 1, -1, nan});
  CHECK(Values(outcome.expected.begin(), outcome.expected.begin() + 8) ==
        Values{-1, -0.5, -0.4, 0, 0, 0, 8, 4});
  CHECK(outcome.expected[8] == std::numeric_limits<double>::infinity());
  CHECK(Values(outcome.magnitudes.begin(), outcome.magnitudes.begin() + 3) == Values{7, 3.5, 2.8});
  // Both sums are 0.
  CHECK(std::isnan(pool(spec, {0, 0}, {1, 1, 7}, {1, -1, 1}).expected[2]));
}

TEST_CASE("the oracle reads weights of any float type") {
  const float one = 1;
  const std::array<std::int64_t, 2> ids{0, 0};
  const std::array<double, 2> doubles{0.1, 0.2};
  const std::array<std::uint16_t, 2> halves{0x3c00, 0x4000}, brains{0x3f80, 0x4000};  // 1, 2
  ForwardSpec spec = column_of(Pooling::sum);
  spec.bags = FixedBags{2};
  double sum = 0;
  ForwardArguments arguments{.table = &one, .num_rows = 1, .ids = ids.data(), .batch = 1};
  const auto sum_with = [&](DataType type, const void* weights) {
    spec.weight_type = type;
    arguments.weights = weights;
    host::oracle(spec, arguments, &sum);
    return sum;
  };
  CHECK(sum_with(DataType::float64, doubles.data()) == 0.1 + 0.2);
  CHECK(sum_with(DataType::float16, halves.data()) == 3);
  CHECK(sum_with(DataType::bfloat16, brains.data()) == 3);
}

TEST_CASE("the largest element wins, the first of equal ones, and the first NaN over all") {
  auto spec = column_of(Pooling::max);
  spec.winners = true;
  const Rows rows{1, 5, nan, 5, -infinity, -3, nan};
  const auto outcome = pool(spec, rows, {0, 3, 1, 1, 0, 3, 1, 6, 2, 4, 4, 9, 4, 5, 4, 7, 8, -1});
  CHECK(outcome.winners == Ids{3, 1, 6, 4, 5, -1});
  CHECK(outcome.expected[0] == 5);
  CHECK(outcome.expected[1] == 5);
  CHECK(std::isnan(outcome.expected[2]));
  CHECK(outcome.expected[3] == -std::numeric_limits<double>::infinity());
  CHECK(outcome.expected[4] == -3);
  CHECK(outcome.magnitudes[4] == 3);
  CHECK(outcome.expected[5] == 0);
}

TEST_CASE("without pooling the oracle keeps every row of fixed bags") {
  auto spec = column_of(Pooling::none);
  spec.padding_id = 1;
  const auto outcome = pool(spec, {3, nan, -4}, {2, 1, 0, 0, 9, 2});
  CHECK(outcome.expected == Values{-4, 0, 3, 3, 0, -4});
  CHECK(outcome.magnitudes == Values{4, 0, 3, 3, 0, 4});
}

TEST_CASE("without pooling the oracle keeps the rows from the first offset to the last one") {
  auto spec = column_of(Pooling::none);
  const Rows rows{3, 4};
  const Ids ids{0, 1, 0, 7, 1};
  const auto keep = [&](const BagLayout& bags, const Ids& offsets, std::int64_t batch) {
    spec.bags = bags;
    Values expected(ids.size(), -1);
    host::oracle(spec,
                 {.table = rows.data(),
                  .num_rows = 2,
                  .ids = ids.data(),
                  .num_ids = 5,
                  .offsets = offsets.data(),
                  .batch = batch},
                 expected.data());
    return expected;
  };
  const CsrBags implied{IntegerType::int64, OffsetsEnd::implied};
  CHECK(keep(CsrBags{}, {1, 2, 4}, 2) == Values{-1, 4, 3, 0, -1});
  CHECK(keep(CsrBags{}, {1, 99, 4}, 2) == Values{-1, 4, 3, 0, -1});  // the one between is no matter
  CHECK(keep(CsrBags{}, {-3, 2, 9}, 2) == Values{3, 4, 3, 0, 4});
  CHECK(keep(CsrBags{}, {4, 2, 1}, 2) == Values(5, -1));
  CHECK(keep(implied, {2, 3}, 2) == Values{-1, -1, 3, 0, 4});
  CHECK(keep(implied, {}, 0) == Values(5, -1));
}

TEST_CASE("numbers of bags and ids from the device count up to those of the launch") {
  auto spec = column_of(Pooling::sum);
  spec.bags = CsrBags{IntegerType::int64, OffsetsEnd::implied};
  spec.counts = Counts::on_device;
  const Rows rows{1, 10, 100};
  const Ids ids{0, 1, 2, 2}, offsets{0, 1, 2};
  const auto sums = [&](std::array<std::int64_t, 2> counts) {
    Values expected(3, -1);
    host::oracle(spec,
                 {.table = rows.data(),
                  .num_rows = 3,
                  .ids = ids.data(),
                  .num_ids = 4,
                  .offsets = offsets.data(),
                  .batch = 3,
                  .counts = counts.data()},
                 expected.data());
    return expected;
  };
  CHECK(sums({3, 4}) == Values{1, 10, 200});
  CHECK(sums({2, 3}) == Values{1, 110, -1});
  CHECK(sums({9, 9}) == Values{1, 10, 200});
  CHECK(sums({3, 1}) == Values{1, 0, 0});
  CHECK(sums({-2, 4}) == Values{-1, -1, -1});
  CHECK(sums({1, -5}) == Values{0, -1, -1});
}

TEST_CASE("the oracle refuses a bag in the wrong place where offsets are trusted") {
  auto spec = column_of(Pooling::sum);
  spec.bags = CsrBags{};
  spec.bad_ids = BadIds::trust;
  const Rows rows{1};
  const Ids ids{0, 0}, offsets{0, 2, 1};
  Values expected(2);
  CHECK(test::caught([&] {
          host::oracle(spec,
                       {.table = rows.data(),
                        .num_rows = 1,
                        .ids = ids.data(),
                        .num_ids = 2,
                        .offsets = offsets.data(),
                        .batch = 2},
                       expected.data());
        }).rfind("bad_offset: the offsets say that bag 1 begins at id 2 and ends before id 1", 0) ==
        0);
}

/// The elements of the only row of a quantised table, given as its bytes.
Values row_of(ForwardSpec spec, const std::vector<std::uint8_t>& bytes,
              const void* scales = nullptr) {
  const std::int64_t id = 0;
  spec.bags = FixedBags{1};
  spec.pooling = Pooling::none;
  spec.alignment = 1;
  Values expected(static_cast<std::size_t>(spec.dim));
  host::oracle(spec,
               {.table = bytes.data(), .num_rows = 1, .ids = &id, .batch = 1, .scales = scales},
               expected.data());
  return expected;
}

ForwardSpec quantised(DataType type, std::int64_t dim, RowScale scale) {
  ForwardSpec spec;
  spec.dim = dim;
  spec.table_type = type;
  spec.row_scale = scale;
  return spec;
}

TEST_CASE("the oracle reads the rows of FBGEMM's inference tables") {
  // float16 0.5 and -1, then the codes.
  CHECK(row_of(quantised(DataType::int8, 3, fbgemm::inference_row()),
               {0x00, 0x38, 0x00, 0xbc, 0, 4, 255}) == Values{-1, 1, 126.5});
  CHECK(row_of(quantised(DataType::int4, 3, fbgemm::inference_row()),
               {0x00, 0x38, 0x00, 0xbc, 0xf2, 0x05}) == Values{0, 6.5, 1.5});
}

TEST_CASE(
    "the oracle reads the fused rows of FBGEMM, padded to four codes where they are of 8 bits") {
  // float32 0.25 and 2.
  CHECK(row_of(quantised(DataType::int8, 5, fbgemm::fused_8bit_row(5)),
               {0, 1, 2, 128, 255, 9, 9, 9, 0x00, 0x00, 0x80, 0x3e, 0x00, 0x00, 0x00, 0x40}) ==
        Values{2, 2.25, 2.5, 34, 65.75});
  // float16 0.5 and -1, not aligned.
  CHECK(row_of(quantised(DataType::int4, 5, fbgemm::fused_4bit_row(5)),
               {0x10, 0x32, 0xf4, 0x00, 0x38, 0x00, 0xbc}) == Values{-1, -0.5, 0, 0.5, 1});
}

TEST_CASE("the oracle reads signed codes without a bias, and scales apart") {
  using Place = RowScale::Place;
  CHECK(row_of(quantised(DataType::int8, 3, {.place = Place::nowhere}), {0, 127, 0x80}) ==
        Values{0, 127, -128});
  const float scale = 0.5f;
  CHECK(row_of(quantised(DataType::int8, 2, {}), {2, 0xff}, &scale) == Values{1, -0.5});
  CHECK(row_of(quantised(DataType::int4, 4, {}), {0x78, 0x0f}, &scale) == Values{-4, 3.5, -0.5, 0});
  alignas(8) const std::array<float, 2> scale_and_bias{2, 100};
  CHECK(row_of(quantised(DataType::int8, 2, {.has_bias = true}), {3, 0xff},
               scale_and_bias.data()) == Values{106, 610});
}

TEST_CASE("the oracle reads both kinds of float8") {
  const auto nowhere = RowScale{.place = RowScale::Place::nowhere};
  CHECK(row_of(quantised(DataType::float8_e4m3, 4, nowhere), {0x38, 0xbc, 0x7e, 0x01}) ==
        Values{1, -1.5, 448, 0x1p-9});
  CHECK(row_of(quantised(DataType::float8_e5m2, 4, nowhere), {0x3c, 0xbe, 0x7b, 0x01}) ==
        Values{1, -1.5, 57344, 0x1p-16});
  const float scale = 0.25f;
  CHECK(row_of(quantised(DataType::float8_e4m3, 1, {}), {0x40}, &scale) == Values{0.5});
}

TEST_CASE("the oracle reads float64 tables") {
  const std::array<double, 2> rows{0.1, 0.2};
  const std::array<std::int64_t, 3> ids{0, 1, 1};
  auto spec = column_of(Pooling::sum);
  spec.table_type = DataType::float64;
  spec.alignment = 8;
  double sum = 0;
  host::oracle(spec, {.table = rows.data(), .num_rows = 2, .ids = ids.data(), .batch = 1}, &sum);
  CHECK(sum == 0.1 + 0.2 + 0.2);
}

}  // namespace
}  // namespace jitbag
