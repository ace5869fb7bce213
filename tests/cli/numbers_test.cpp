#include "bench/numbers.hpp"

#include <bit>
#include <cstring>
#include <set>

#include "bench/floor.hpp"
#include "bench/workload.hpp"
#include "catch.hpp"
#include "jitbag/host.hpp"

namespace jitbag::tools::bench {
namespace {

/// The bags {0}, {1}, ... of a table of so many rows: what the oracle makes of each row.
std::vector<double> rows_as_numbers(const ForwardSpec& given,
                                    const std::vector<std::int64_t>& rows) {
  ForwardSpec spec = given;
  spec.bags = FixedBags{1};
  spec.pooling = Pooling::sum;
  spec = validated(spec);
  const auto count = static_cast<std::int64_t>(rows.size());
  const std::vector<RowPart> parts = row_parts(spec, 7);
  const HostBuffer table(count * row_stride_bytes(spec));
  const HostBuffer scales(count * scale_bytes(spec));
  std::vector<std::int64_t> ids;
  for (std::int64_t place = 0; place < count; ++place) {
    write_row(parts, rows[static_cast<std::size_t>(place)], place, table.data(), scales.data());
    ids.push_back(place);
  }
  std::vector<double> numbers(static_cast<std::size_t>(count * spec.dim));
  host::oracle(spec,
               {.table = table.data(),
                .num_rows = count,
                .ids = ids.data(),
                .output = numbers.data(),
                .batch = count,
                .scales = scales.data()},
               numbers.data());
  return numbers;
}

}  // namespace

TEST_CASE("numbers made from their place are the same in every float type, and about as large") {
  const std::vector<std::int64_t> rows = {0, 1, 5, 40'000'000, (std::int64_t{1} << 40) + 3};
  const auto expected = rows_as_numbers({.dim = 24, .table_type = DataType::float64}, rows);
  std::set<double> different;
  for (const double value : expected) {
    CHECK(value >= -1);
    CHECK(value < 1);
    different.insert(value);
  }
  CHECK(different.size() > 50);
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16})
    CHECK(rows_as_numbers({.dim = 24, .table_type = type}, rows) == expected);
}

TEST_CASE("rows of quantised tables made from their place are finite in every layout") {
  const std::vector<std::int64_t> rows = {3, 2, 1000};
  for (const DataType type :
       {DataType::int8, DataType::int4, DataType::float8_e4m3, DataType::float8_e5m2}) {
    const RowScale apart{.has_bias = true};
    const RowScale in_row{RowScale::Place::in_row, DataType::float16, true, 0, 4};
    const RowScale nowhere{.place = RowScale::Place::nowhere};
    for (const RowScale& scale : {apart, in_row, nowhere, RowScale{}}) {
      const ForwardSpec spec{.dim = 19, .table_type = type, .row_scale = scale};
      std::set<double> different;
      for (const double value : rows_as_numbers(spec, rows)) {
        CHECK(std::abs(value) < 256);
        different.insert(value);
      }
      CHECK(different.size() > 8);
    }
  }
}

TEST_CASE("a row made from its place does not depend on where it is written") {
  const ForwardSpec spec{.dim = 9,
                         .table_type = DataType::int8,
                         .row_scale = {RowScale::Place::in_row, DataType::float16, true, 0, 4}};
  const auto all = rows_as_numbers(spec, {10, 11, 12});
  const auto last = rows_as_numbers(spec, {12});
  CHECK(std::vector(all.end() - 9, all.end()) == last);
}

TEST_CASE("random integers stay below their limit and reach all of them; weights are below 1") {
  std::set<std::uint64_t> seen;
  for (std::int64_t i = 0; i < 200; ++i) {
    seen.insert(number_at(random_integers(IntegerType::int32, 5), 11, i));
    const auto bits = static_cast<std::uint32_t>(number_at(weights_of(DataType::float32), 11, i));
    const auto weight = std::bit_cast<float>(bits);
    CHECK(weight >= 0.5F);
    CHECK(weight < 1);
  }
  CHECK(seen == std::set<std::uint64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("the floor counts every row that is read once, and the rest whole") {
  CHECK(expected_distinct(1, 100) == 1);
  CHECK(expected_distinct(10, 0) == 0);
  CHECK(expected_distinct(2, 2) == Approx(1.5));
  CHECK(expected_distinct(3, 1e6) == Approx(3));
  CHECK(expected_distinct(4e7, 1e6) == Approx(987'603).epsilon(1e-3));
  const std::vector<Lookups> tables = {{100, 10, 256}, {5, 5, 4}};
  CHECK(all_bytes(tables, 7) == 100 * 256 + 5 * 4 + 7);
  CHECK(floor_bytes(tables, 7) == 10 * 256 + 5 * 4 + 7);
}

}  // namespace jitbag::tools::bench
