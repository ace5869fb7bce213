#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "jitbag/tables.hpp"
#include "spec/arguments.hpp"
#include "support/caught.hpp"

namespace jitbag {
namespace {

alignas(64) std::array<std::byte, 4096> memory;

const std::byte* at(const void* base, std::int64_t bytes) {
  return static_cast<const std::byte*>(base) + bytes;
}

TablesSpec joined_set(const BagLayout& first, const BagLayout& second) {
  TablesSpec spec;
  spec.tables = {{.dim = 8, .bags = first, .output_type = DataType::float16},
                 {.dim = 5, .bags = second, .output_type = DataType::float16}};
  spec.bags = TablesSpec::Bags::joined;
  spec.outputs = TablesSpec::Outputs::side_by_side;
  return spec;
}

std::string complaint(const std::function<void(TablesSpec&)>& change) {
  TablesSpec spec = joined_set(FixedBags{3}, FixedBags{4});
  change(spec);
  return test::caught([&] { static_cast<void>(validated(spec)); });
}

bool has(const std::string& whole, const std::string& part) {
  INFO(whole);
  return whole.find(part) != std::string::npos;
}

const std::vector<ForwardArguments> two_tables = {{.table = memory.data(), .num_rows = 1},
                                                  {.table = memory.data(), .num_rows = 1}};

TEST_CASE("a set that cannot be joined is refused, and the table is named") {
  CHECK(complaint([](auto&) {}) == "nothing");
  CHECK(has(complaint([](auto& spec) { spec.tables.clear(); }), "There are no tables in the set"));
  CHECK(has(complaint([](auto& spec) { spec.tables[1].dim = -1; }), "Table 1: dim is -1"));
  CHECK(has(complaint([](auto& spec) { spec.tables[1].bags = CsrBags{}; }),
            "Table 1 has other bags than table 0, but their ids are joined"));
  CHECK(has(complaint([](auto& spec) { spec.tables[1].id_type = IntegerType::int32; }),
            "Table 1 has ids or weights of another type"));
  CHECK(has(complaint([](auto& spec) { spec.tables[1].counts = Counts::on_device; }),
            "Table 1 has counts on the device"));
  CHECK(has(complaint([](auto& spec) { spec.tables[1].output_type = DataType::float32; }),
            "Table 1 has float32 outputs and table 0 float16"));
  CHECK(has(complaint([](auto& spec) { spec.tables[1].output_stride = 9; }),
            "Table 1 has the output_stride 9"));
  CHECK(has(complaint([](auto& spec) { spec.tables[1].pooling = Pooling::none; }),
            "Table 1 is without pooling"));
  CHECK(has(complaint([](auto& spec) { spec.expected.resize(3); }),
            "There are 3 expectations for 2 tables"));
}

TEST_CASE("of joined fixed bags each table has the ids after those of the tables before it") {
  const auto tables = alone(joined_set(FixedBags{3}, FixedBags{4}), two_tables,
                            {.ids = memory.data(), .output = memory.data(), .batch = 10});
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].arguments.ids == memory.data());
  CHECK(tables[1].arguments.ids == at(memory.data(), 10 * 3 * 8));
  CHECK(tables[1].spec.id_alignment == 8);
  CHECK(tables[1].arguments.batch == 10);
}

TEST_CASE("of joined CSR bags each table has its share of the offsets, and all ids") {
  for (const OffsetsEnd end : {OffsetsEnd::included, OffsetsEnd::implied}) {
    const CsrBags csr{IntegerType::int32, end};
    const auto tables = alone(joined_set(csr, csr), two_tables,
                              {.ids = memory.data(),
                               .num_ids = 100,
                               .offsets = memory.data(),
                               .output = memory.data(),
                               .batch = 10});
    CHECK(tables[1].arguments.offsets == at(memory.data(), 10 * 4));
    CHECK(tables[1].arguments.ids == memory.data());
    CHECK(tables[1].arguments.num_ids == 100);
    CHECK(std::get<CsrBags>(tables[0].spec.bags).end == OffsetsEnd::included);
    CHECK(std::get<CsrBags>(tables[1].spec.bags).end == end);
  }
}

TEST_CASE("outputs side by side are columns of one array, as aligned as their column") {
  const auto tables = alone(joined_set(FixedBags{3}, FixedBags{4}), two_tables,
                            {.ids = memory.data(), .output = memory.data(), .batch = 10});
  CHECK(tables[0].spec.output_stride == 13);
  CHECK(tables[1].spec.output_stride == 13);
  CHECK(tables[1].arguments.output == at(memory.data(), 8 * 2));
  CHECK(tables[0].spec.output_alignment == 2);  // of the second bag's, 26 bytes further on
}

TEST_CASE("what tables share must be as aligned as any of them asks") {
  TablesSpec spec = joined_set(CsrBags{}, CsrBags{});
  spec.tables[0].id_alignment = 8;
  spec.tables[0].output_alignment = 4;
  spec = validated(spec);
  const auto check = [&](std::int64_t ids, std::int64_t output) {
    return test::caught([&] {
      check_joined(spec, {.ids = at(memory.data(), ids),
                          .num_ids = 10,
                          .offsets = memory.data(),
                          .output = memory.data() + output,
                          .batch = 2});
    });
  };
  CHECK(check(0, 0) == "nothing");
  CHECK(has(check(8, 0), "ids is at"));
  CHECK(has(check(0, 4), "output is at"));
}

TEST_CASE("arguments for another number of tables are refused") {
  const auto one = std::span(two_tables).first(1);
  CHECK(has(test::caught(
                [&] { static_cast<void>(alone(joined_set(FixedBags{3}, FixedBags{4}), one, {})); }),
            "There are arguments for 1 tables in a set of 2"));
}

}  // namespace
}  // namespace jitbag
