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

}  // namespace
}  // namespace jitbag
