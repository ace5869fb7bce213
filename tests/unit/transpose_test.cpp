#include "jitbag/transpose.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "jitbag/host.hpp"
#include "jitbag/specialisation.hpp"
#include "support/bags.hpp"
#include "support/caught.hpp"
#include "support/transpose_case.hpp"

namespace jitbag::test {
namespace {

TEST_CASE("the host's transposition gives what a stable sort gives, and nothing else") {
  for (const TransposeSpec& spec : transpose_specs()) {
    for (const TransposeCase& given : transpose_cases(spec, 300)) {
      INFO(given.description);
      const auto inputs = given.inputs.inputs;
      TransposeOutputs outputs = given.before;
      const TransposeArguments arguments = given.host_arguments(outputs);
      const auto bad = Bags(given.inputs.spec, arguments.forward).first_bad_input();
      const bool reports = spec.bad_ids == BadIds::report && bad;
      const std::string expected =
          reports ? caught([&] { throw bad_input_error(*bad); }) : "nothing";
      CHECK(caught([&] { host::transpose(spec, arguments); }) == expected);
      CHECK(given.check(outputs) == "");
      CHECK((given.inputs.inputs == inputs));
    }
  }
}

/// Ids {4, 1, 0, 4, 1, 4}, in bags of two, of which 0 is padding.
struct Small {
  std::vector<std::int64_t> ids = {4, 1, 0, 4, 1, 4};
  std::vector<std::int64_t> rows = std::vector<std::int64_t>(2);
  std::vector<std::int32_t> begins = std::vector<std::int32_t>(3);
  std::vector<std::int32_t> bags = std::vector<std::int32_t>(6);
  std::vector<std::int32_t> positions = std::vector<std::int32_t>(6);
  std::vector<std::int32_t> inverse = std::vector<std::int32_t>(6);
  TransposeCount count;
  TransposeSpec spec = {.bags = FixedBags{2}, .padding_id = 0};

  TransposeArguments arguments() {
    return {.forward = {.num_rows = 5, .ids = ids.data(), .batch = 3},
            .capacity = 2,
            .rows = rows.data(),
            .count = &count,
            .begins = begins.data(),
            .bags_by_row = bags.data(),
            .positions_by_row = positions.data(),
            .inverse = inverse.data()};
  }
};

TEST_CASE("a small transposition, number by number") {
  Small small;
  host::transpose(small.spec, small.arguments());
  CHECK((small.rows == std::vector<std::int64_t>{1, 4}));
  CHECK((small.begins == std::vector<std::int32_t>{0, 2, 5}));
  CHECK((small.bags == std::vector<std::int32_t>{0, 2, 0, 1, 2, 0}));
  CHECK((small.positions == std::vector<std::int32_t>{1, 4, 0, 3, 5, 0}));
  CHECK((small.inverse == std::vector<std::int32_t>{1, 0, -1, 1, 0, 1}));
  CHECK(small.count.rows == 2);
  CHECK(small.count.missing == 0);
  CHECK(small.count.ids == 5);
}

TEST_CASE("where there is room for one row the second is counted as missing") {
  Small small;
  TransposeArguments arguments = small.arguments();
  arguments.capacity = 1;
  host::transpose(small.spec, arguments);
  CHECK(small.rows[0] == 1);
  CHECK((small.begins == std::vector<std::int32_t>{0, 2, 0}));
  CHECK((small.inverse == std::vector<std::int32_t>{-1, 0, -1, -1, 0, -1}));
  CHECK((small.bags == std::vector<std::int32_t>{0, 2, 0, 1, 2, 0}));
  CHECK(small.count.rows == 1);
  CHECK(small.count.missing == 1);
  CHECK(small.count.ids == 5);
}

TEST_CASE("a transposition without any output but the count counts") {
  Small small;
  host::transpose(small.spec, {.forward = small.arguments().forward, .count = &small.count});
  CHECK(small.count.rows == 0);
  CHECK(small.count.missing == 2);
  CHECK(small.count.ids == 5);
}

TEST_CASE("the spec of a transposition is refused for what it has in common with forward's") {
  CHECK(caught([] { static_cast<void>(validated(TransposeSpec{.bags = FixedBags{-1}})); }) ==
        "invalid_argument: The bag size is -1; it must be at least 0 and less than 2^30.");
  CHECK(
      caught([] { static_cast<void>(validated(TransposeSpec{.weight_type = DataType::int8})); }) ==
      "invalid_argument: weight_type is int8; it must be float32, float16, bfloat16 or "
      "float64.");
  CHECK_THAT(
      caught([] { static_cast<void>(validated(TransposeSpec{.index_type = IntegerType{7}})); }),
      Catch::Matchers::StartsWith("invalid_argument: "));
}

TEST_CASE("a transposition refuses arguments that cannot work, and says which") {
  const auto refusal = [](auto change) {
    Small small;
    TransposeArguments arguments = small.arguments();
    change(arguments);
    return caught([&] { host::transpose(small.spec, arguments); });
  };
  using Arguments = TransposeArguments;
  CHECK(refusal([](Arguments& to) { to.capacity = -1; }) ==
        "invalid_argument: capacity is -1; it must be 0 or more.");
  CHECK(refusal([](Arguments& to) { to.rows = nullptr; }) ==
        "invalid_argument: rows is a null pointer although it has 2 elements; pass its address.");
  CHECK(refusal([](Arguments& to) { to.count = nullptr; }) ==
        "invalid_argument: count is a null pointer although it has 1 elements; pass its address.");
  CHECK(refusal([](Arguments& to) { to.forward.ids = nullptr; }) ==
        "invalid_argument: ids is a null pointer although it has 6 elements; pass its address.");
  CHECK_THAT(refusal([](Arguments& to) { to.inverse = static_cast<char*>(to.inverse) + 1; }),
             Catch::Matchers::Contains("which is not a multiple of 4 bytes"));
  CHECK(refusal([](Arguments& to) { to.forward.batch = std::int64_t{1} << 30; }) ==
        "invalid_argument: There are 2147483648 ids, but index_type is int32, which counts to "
        "2^31 - 1; use int64.");
}

TEST_CASE("the text of a transposition's spec has all that differs") {
  CHECK(to_text(TransposeSpec{.bags = FixedBags{4}, .padding_id = 0}) ==
        "transpose bags=4 ids=int64 padding=0 bad_ids=skip index=int32");
  CHECK(to_text(transpose_specs()[2]) ==
        "transpose bags=csr offsets=int64 end=implied ids=int64 padding=-1 bad_ids=skip "
        "index=int32 weights=float64 counts=on_device");
}

TEST_CASE("transpositions that differ in weights alone share the kernels that sort") {
  const auto with = specialise(TransposeSpec{.weight_type = DataType::float32}, {9, 0});
  const auto without = specialise(TransposeSpec{}, {9, 0});
  REQUIRE(with.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK((with[i] == without[i]));
  CHECK_FALSE((with[4] == without[4]));
}

}  // namespace
}  // namespace jitbag::test
