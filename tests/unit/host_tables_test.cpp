#include <array>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "jitbag/host.hpp"
#include "jitbag/tables.hpp"
#include "support/caught.hpp"

namespace jitbag {
namespace {

using test::caught;

ForwardSpec table_of(std::int64_t dim, BagLayout bags, Pooling pooling) {
  ForwardSpec spec;
  spec.dim = dim;
  spec.bags = bags;
  spec.pooling = pooling;
  spec.alignment = 4;
  return spec;
}

const std::array<float, 3> ones_twos_threes{1, 2, 3};
const std::array<float, 4> tens{10, 20, 30, 40};

std::vector<ForwardArguments> two_tables() {
  return {{.table = ones_twos_threes.data(), .num_rows = 3}, {.table = tens.data(), .num_rows = 2}};
}

TEST_CASE("a set of tables on the CPU takes joined CSR bags and puts outputs side by side") {
  TablesSpec spec;
  spec.bags = TablesSpec::Bags::joined;
  spec.outputs = TablesSpec::Outputs::side_by_side;
  spec.tables = {table_of(1, CsrBags{}, Pooling::sum), table_of(2, CsrBags{}, Pooling::max)};
  const std::array<std::int64_t, 6> ids{0, 2, 1, 1, 0, 1};
  const std::array<std::int64_t, 5> offsets{0, 2, 3, 5, 6};
  std::array<float, 6> output{};
  host::forward(spec, two_tables(),
                {.ids = ids.data(),
                 .num_ids = 6,
                 .offsets = offsets.data(),
                 .output = output.data(),
                 .batch = 2});
  CHECK(output == std::array<float, 6>{4, 30, 40, 2, 30, 40});
}

TEST_CASE("bad input of a set on the CPU names the lowest table, and all tables are computed") {
  TablesSpec spec;
  spec.bags = TablesSpec::Bags::joined;
  spec.tables = {table_of(1, FixedBags{1}, Pooling::sum), table_of(2, FixedBags{2}, Pooling::sum),
                 table_of(1, FixedBags{1}, Pooling::sum)};
  for (ForwardSpec& table : spec.tables) table.bad_ids = BadIds::report;
  const std::array<std::int64_t, 4> ids{0, 1, 2, 7};
  std::array<float, 1> first{}, third{9};
  std::array<float, 2> second{};
  auto tables = two_tables();
  tables.push_back(tables[0]);
  tables[0].output = first.data();
  tables[1].output = second.data();
  tables[2].output = third.data();
  CHECK(caught([&] { host::forward(spec, tables, {.ids = ids.data(), .batch = 1}); }) ==
        "bad_id: id 2 at position 1 of bag 0 of table 1 is outside the table's 2 rows; correct the "
        "ids, or set bad_ids to skip.");
  CHECK(first[0] == 1);
  CHECK(second == std::array<float, 2>{30, 40});
  CHECK(third[0] == 0);
}

TEST_CASE("a set of tables on the CPU refuses what can never work, and names the table") {
  TablesSpec spec;
  spec.tables = {table_of(1, FixedBags{1}, Pooling::sum), table_of(2, FixedBags{2}, Pooling::sum)};
  auto tables = two_tables();
  tables[1].batch = 3;
  CHECK(caught([&] { host::forward(spec, tables, {}); }) ==
        "invalid_argument: Table 1: ids is a null pointer although it has 6 elements; pass its "
        "address.");
}

}  // namespace
}  // namespace jitbag
