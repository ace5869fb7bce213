#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "jitbag/host.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"

namespace jitbag {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Place = RowScale::Place;
using test::caught;

constexpr std::array code_types{DataType::int8, DataType::int4, DataType::float8_e4m3,
                                DataType::float8_e5m2};

ForwardSpec spec_of(DataType type, std::int64_t dim, RowScale scale) {
  ForwardSpec spec;
  spec.dim = dim;
  spec.table_type = type;
  spec.row_scale = scale;
  spec.alignment = 1;
  return spec;
}

/// A quantised table, 0xee where nothing was written.
struct Table {
  ForwardSpec spec;
  std::int64_t num_rows;
  Bytes rows, scales;

  Table(const ForwardSpec& given, const std::vector<float>& values, int threads = 0)
      : spec(validated(given)),
        num_rows(static_cast<std::int64_t>(values.size()) / spec.dim),
        rows(static_cast<std::size_t>(num_rows * spec.row_stride), 0xee),
        scales(static_cast<std::size_t>(num_rows * 8), 0xee) {
    host::quantise(spec,
                   {.values = values.data(),
                    .num_rows = num_rows,
                    .table = rows.data(),
                    .scales = scales.data()},
                   threads);
  }

  /// All elements, by the oracle.
  [[nodiscard]] std::vector<double> elements() const {
    ForwardSpec every_row = spec;
    every_row.bags = FixedBags{1};
    every_row.pooling = Pooling::none;
    std::vector<std::int64_t> ids(static_cast<std::size_t>(num_rows));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
    std::vector<double> result(ids.size() * static_cast<std::size_t>(spec.dim));
    host::oracle(every_row,
                 {.table = rows.data(),
                  .num_rows = num_rows,
                  .ids = ids.data(),
                  .batch = num_rows,
                  .scales = scales.data()},
                 result.data());
    return result;
  }
};

std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = std::ldexp(static_cast<float>(static_cast<std::int64_t>(random() >> 40)), -22) - 2.0f;
  }
  return values;
}

TEST_CASE("8-bit codes with a bias span the range of a row's values") {
  const Table table(spec_of(DataType::int8, 4, fbgemm::inference_row()), {-1, 0, 126.5, 126.2f});
  // float16 0.5 and -1; 254.4 rounds to 254.
  CHECK(table.rows == Bytes{0x00, 0x38, 0x00, 0xbc, 0, 2, 255, 254});
}

TEST_CASE("codes are rounded to nearest even") {
  // The scale is 1 and the bias 0.
  const Table table(spec_of(DataType::int8, 6, fbgemm::inference_row()),
                    {0, 0.5, 1.5, 2.5, 3.5, 255});
  CHECK(Bytes(table.rows.begin() + 4, table.rows.end()) == Bytes{0, 0, 2, 2, 4, 255});
}

TEST_CASE("the fused rows of FBGEMM are written as it writes them") {
  const Table eight(spec_of(DataType::int8, 5, fbgemm::fused_8bit_row(5)), {2, 3, 4, 34, 65.75});
  CHECK(eight.rows == Bytes{0, 4, 8, 128, 255, 0xee, 0xee, 0xee,  //
                            0x00, 0x00, 0x80, 0x3e, 0x00, 0x00, 0x00, 0x40});
  const Table four(spec_of(DataType::int4, 5, fbgemm::fused_4bit_row(5)), {-1, -0.5, 0, 0.5, 6.5});
  CHECK(four.rows == Bytes{0x10, 0x32, 0x0f, 0x00, 0x38, 0x00, 0xbc});
}

TEST_CASE("codes without a bias are signed and symmetric") {
  const Table eight(spec_of(DataType::int8, 3, {}), {-254, 1, 254});
  CHECK(eight.rows == Bytes{0x81, 0, 0x7f});  // 1 is half of the scale 2
  CHECK(Bytes(eight.scales.begin(), eight.scales.begin() + 4) == Bytes{0, 0, 0, 0x40});
  const Table four(spec_of(DataType::int4, 3, {}), {-3.5f, 0.5f, 1});
  CHECK(four.rows == Bytes{0x19, 0x02});
  CHECK(Bytes(four.scales.begin(), four.scales.begin() + 4) == Bytes{0, 0, 0, 0x3f});
}

TEST_CASE("float8 codes take the largest magnitude to their largest number, and the bias is 0") {
  const RowScale with_bias{.place = Place::in_row, .has_bias = true, .codes_offset = 8};
  const Table table(spec_of(DataType::float8_e4m3, 3, with_bias), {-896, 2, 3});
  CHECK(table.rows == Bytes{0, 0, 0, 0x40, 0, 0, 0, 0, 0xfe, 0x38, 0x3c});
  const Table wide(spec_of(DataType::float8_e5m2, 2, {}), {57344, -1});
  CHECK(wide.rows == Bytes{0x7b, 0xbc});
}

TEST_CASE("without a scale values are rounded, and kept within the codes") {
  const RowScale nowhere{.place = Place::nowhere};
  CHECK(Table(spec_of(DataType::int8, 5, nowhere), {1.5f, -1.5f, 127.4f, 1e30f, -1e30f}).rows ==
        Bytes{2, 0xfe, 127, 127, 0x80});
  CHECK(Table(spec_of(DataType::int4, 3, nowhere), {-9, 8, 2.5f}).rows == Bytes{0x78, 0x02});
  CHECK(Table(spec_of(DataType::float8_e4m3, 2, nowhere), {1, 1e30f}).rows == Bytes{0x38, 0x7e});
}

TEST_CASE("a row of one value is that value with a bias, and a row of zeros is zeros without") {
  for (const DataType type : code_types) {
    INFO(name(type));
    CHECK(Table(spec_of(type, 3, {}), {0, 0, -0.0f}).elements() == std::vector<double>{0, 0, 0});
  }
  const Table constant(spec_of(DataType::int8, 2, {.has_bias = true}), {0.1f, 0.1f});
  CHECK(constant.elements() == std::vector<double>(2, static_cast<double>(0.1f)));
  CHECK(constant.rows == Bytes{0, 0});
}

TEST_CASE("the bits of a bias do not depend on the order of two zeros") {
  const ForwardSpec spec = spec_of(DataType::int8, 3, {.has_bias = true});
  CHECK(Table(spec, {0.0f, -0.0f, 255}).scales == Table(spec, {-0.0f, 0.0f, 255}).scales);
}

TEST_CASE("a float16 scale or bias that is too large becomes the largest float16") {
  const Table table(spec_of(DataType::int8, 2, fbgemm::inference_row()), {-1e6f, 1e9f});
  CHECK(table.rows == Bytes{0xff, 0x7b, 0xff, 0xfb, 0, 255});
}

TEST_CASE("codes are computed with the scale and bias as they are stored") {
  // 0.3 / 255 and 0.1 are not float16 numbers; the code of 0.4 follows from the rounded ones.
  const Table table(spec_of(DataType::int8, 2, fbgemm::inference_row()), {0.1f, 0.4f});
  const float scale = host::float_from_float16(host::float16_from((0.4f - 0.1f) / 255));
  const float bias = host::float_from_float16(host::float16_from(0.1f));
  CHECK(table.rows[5] == std::clamp(std::rint((0.4f - bias) / scale), 0.0f, 255.0f));
  CHECK(table.rows[4] == std::max(0.0f, std::rint((0.1f - bias) / scale)));
}

TEST_CASE("an element is within half a scale of the value that it stands for") {
  INFO("JITBAG_TEST_SEED=" << test::seed());
  constexpr std::int64_t dim = 33, num_rows = 50;
  const auto values = random_values(dim * num_rows, test::seed());
  for (const DataType type : {DataType::int8, DataType::int4}) {
    for (const bool has_bias : {false, true}) {
      INFO(name(type) << " bias " << has_bias);
      const auto elements = Table(spec_of(type, dim, {.has_bias = has_bias}), values).elements();
      const double levels = (type == DataType::int8 ? 256 : 16) / (has_bias ? 1 : 2) - 1;
      for (std::int64_t row = 0; row < num_rows; ++row) {
        const auto begin = values.begin() + row * dim;
        const auto [low, high] = std::minmax_element(begin, begin + dim);
        const double range = static_cast<double>(
            has_bias ? *high - *low : std::max(std::abs(*low), std::abs(*high)));
        for (std::int64_t column = 0; column < dim; ++column) {
          const auto i = static_cast<std::size_t>(row * dim + column);
          REQUIRE(std::abs(elements[i] - static_cast<double>(values[i])) <=
                  range / levels * 0.5 + 1e-6);
        }
      }
    }
  }
}

TEST_CASE("pooling a quantised table is pooling its elements") {
  INFO("JITBAG_TEST_SEED=" << test::seed());
  constexpr std::int64_t dim = 19, num_rows = 40, bag = 5;
  const auto values = random_values(dim * num_rows, test::seed());
  std::mt19937_64 random(test::seed());
  std::array<std::int64_t, 4 * bag> ids{};
  for (auto& id : ids) id = static_cast<std::int64_t>(random() % num_rows);
  for (const DataType type : code_types) {
    INFO(name(type));
    const Table table(spec_of(type, dim, fbgemm::inference_row()), values);
    ForwardSpec spec = table.spec;
    spec.bags = FixedBags{bag};
    spec.pooling = {Pooling::sum, Pooling::max};
    spec.output_stride = 0;
    std::vector<float> pooled(4 * 2 * dim);
    host::forward(spec, {.table = table.rows.data(),
                         .num_rows = num_rows,
                         .ids = ids.data(),
                         .output = pooled.data(),
                         .batch = 4});

    const std::vector<double> elements = table.elements();
    spec.table_type = DataType::float64;
    spec.row_stride = 0;
    spec.alignment = 8;
    std::vector<float> expected(pooled.size());
    host::forward(spec, {.table = elements.data(),
                         .num_rows = num_rows,
                         .ids = ids.data(),
                         .output = expected.data(),
                         .batch = 4});
    for (std::size_t i = 0; i < pooled.size(); ++i) {
      REQUIRE(std::abs(pooled[i] - expected[i]) <= 1e-5f);
    }
  }
}

TEST_CASE("a table is the same bits with any number of threads") {
  const auto values = random_values(64 * 37, test::seed());
  const ForwardSpec spec = spec_of(DataType::int4, 37, fbgemm::inference_row());
  const Bytes once = Table(spec, values, 1).rows;
  for (const int threads : {0, 3, 64}) CHECK(Table(spec, values, threads).rows == once);
}

TEST_CASE("gaps between rows are left as they are") {
  ForwardSpec spec = spec_of(DataType::int8, 1, {});
  spec.row_stride = 3;
  CHECK(Table(spec, {127, -127}).rows == Bytes{127, 0xee, 0xee, 0x81, 0xee, 0xee});
}

TEST_CASE("what has no codes is refused") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const ForwardSpec spec = spec_of(DataType::int8, 2, {});
  CHECK(caught([&] {
          (void)Table(spec, {1, 2, infinity, 1, nan, 3}, 2);
        }) ==
        "invalid_argument: Row 1 has a NaN or an infinite value, which no code stands for; correct "
        "the values.");
  ForwardSpec halves = spec_of(DataType::float16, 2, {});
  halves.alignment = 2;
  CHECK(caught([&] { host::quantise(halves, {}); }) ==
        "invalid_argument: table_type is float16, which has no codes; use int8, int4, float8_e4m3 "
        "or float8_e5m2.");
  CHECK(caught([&] { host::quantise(spec, {.num_rows = 3}); }) ==
        "invalid_argument: values is a null pointer although it has 6 elements; pass its address.");
  CHECK(caught([&] { host::quantise(spec, {}); }) == "nothing");
}

}  // namespace
}  // namespace jitbag
