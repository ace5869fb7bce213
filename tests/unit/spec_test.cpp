#include <cstdint>
#include <limits>

#include "catch.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/target.hpp"
#include "jitbag/types.hpp"
#include "support/caught.hpp"

namespace jitbag {
namespace {

using test::caught;

ForwardSpec good_spec() {
  ForwardSpec spec;
  spec.dim = 64;
  spec.bags = FixedBags{4};
  return spec;
}

/// What `validated` says about a good spec after a change.
template <class Change>
std::string complaint(Change change) {
  ForwardSpec spec = good_spec();
  change(spec);
  return caught([&] { (void)validated(spec); });
}

TEST_CASE("a number that is no enumerator is refused") {
  ForwardSpec spec = {.dim = 4};
  spec.table_type = static_cast<DataType>(9);
  CHECK_THROWS_AS(validated(spec), Error);
  spec = {.dim = 4};
  spec.pooling = static_cast<Pooling>(9);
  CHECK_THROWS_AS(validated(spec), Error);
}

TEST_CASE("a validated spec has its row stride filled in and its alignment cut to 16") {
  auto spec = good_spec();
  spec.alignment = 256;
  const auto valid = validated(spec);
  CHECK(valid.row_stride == 64);
  CHECK(valid.alignment == 16);
  CHECK(validated(valid) == valid);

  spec.row_stride = 64;
  spec.alignment = 16;
  CHECK(validated(spec) == valid);
}

TEST_CASE("validation names the field, its value and what is allowed") {
  constexpr std::int64_t too_many = std::int64_t{1} << 31;
  CHECK(
      complaint([](auto& spec) { spec.dim = -1; }) ==
      "invalid_argument: dim is -1; it must be at least 0 and less than 2^28 (2^27 for float64).");
  CHECK(complaint([](auto& spec) { spec.dim = too_many; }) ==
        "invalid_argument: dim is 2147483648; it must be at least 0 and less than 2^28 (2^27 for "
        "float64).");
  CHECK(complaint([](auto& spec) { spec.bags = FixedBags{-3}; }) ==
        "invalid_argument: The bag size is -3; it must be at least 0 and less than 2^30.");
  CHECK(complaint([](auto& spec) { spec.bags = FixedBags{too_many}; }) ==
        "invalid_argument: The bag size is 2147483648; it must be at least 0 and less than 2^30.");
  CHECK(complaint([](auto& spec) { spec.row_stride = 63; }) ==
        "invalid_argument: row_stride is 63; it must be at least dim, 64, and less than 2^31, or 0 "
        "for that.");
  CHECK(complaint([](auto& spec) { spec.row_stride = -64; }) ==
        "invalid_argument: row_stride is -64; it must be at least dim, 64, and less than 2^31, or "
        "0 for that.");
  CHECK(complaint([](auto& spec) { spec.alignment = 12; }) ==
        "invalid_argument: alignment is 12; it must be a power of two and at least 4, the size of "
        "a float32 element.");
  CHECK(complaint([](auto& spec) { spec.alignment = 2; }) ==
        "invalid_argument: alignment is 2; it must be a power of two and at least 4, the size of a "
        "float32 element.");
  CHECK(complaint([](auto& spec) { spec.alignment = -16; }) ==
        "invalid_argument: alignment is -16; it must be a power of two and at least 4, the size of "
        "a float32 element.");
  CHECK(complaint([](auto& spec) {
          spec.id_type = IntegerType::int32;
          spec.padding_id = std::int64_t{1} << 40;
        }) ==
        "invalid_argument: padding_id is 1099511627776, which no int32 id can equal; use int64 ids "
        "or another padding_id.");
}

TEST_CASE("what is unusual but legal passes validation") {
  CHECK(complaint([](auto& spec) { spec.dim = 0; }) == "nothing");
  CHECK(complaint([](auto& spec) { spec.bags = FixedBags{0}; }) == "nothing");
  CHECK(complaint([](auto& spec) { spec.bags = CsrBags{}; }) == "nothing");
  CHECK(complaint([](auto& spec) { spec.padding_id = -1; }) == "nothing");
  CHECK(complaint([](auto& spec) { spec.padding_id = std::numeric_limits<std::int64_t>::min(); }) ==
        "nothing");
  CHECK(complaint([](auto& spec) {
          spec.table_type = DataType::bfloat16;
          spec.alignment = 2;
        }) == "nothing");
}

TEST_CASE("the text of a spec says what it is, and beyond that only what is unusual") {
  auto spec = good_spec();
  CHECK(to_text(spec) ==
        "embedding_bag mean dim=64 bags=4 table=float32 output=float32 ids=int64 padding=none "
        "bad_ids=skip");
  CHECK(to_text(validated(spec)) == to_text(spec));

  spec.table_type = DataType::float16;
  spec.output_type = DataType::bfloat16;
  spec.id_type = IntegerType::int32;
  spec.padding_id = 0;
  spec.bad_ids = BadIds::report;
  spec.bags = CsrBags{IntegerType::int32, OffsetsEnd::implied};
  spec.row_stride = 70;
  spec.alignment = 4;
  spec.addressing = Addressing::bits32;
  CHECK(to_text(spec) ==
        "embedding_bag mean dim=64 bags=csr offsets=int32 end=implied table=float16 "
        "output=bfloat16 ids=int32 padding=0 bad_ids=report row_stride=70 alignment=4 "
        "addressing=bits32");
  spec.bags = CsrBags{};
  CHECK(to_text(spec).find("bags=csr offsets=int64 table=") != std::string::npos);
}

TEST_CASE("names and values of types and policies lead to each other") {
  for (const auto type :
       {DataType::float32, DataType::float16, DataType::bfloat16, DataType::float64, DataType::int8,
        DataType::int4, DataType::float8_e4m3, DataType::float8_e5m2}) {
    CHECK(parse_data_type(name(type)) == type);
  }
  for (const auto type : {IntegerType::int32, IntegerType::int64}) {
    CHECK(parse_integer_type(name(type)) == type);
  }
  for (const auto policy : {BadIds::skip, BadIds::report, BadIds::trust}) {
    CHECK(parse_bad_ids(name(policy)) == policy);
  }
  CHECK(size_of(DataType::float32) == 4);
  CHECK(size_of(DataType::float16) == 2);
  CHECK(size_of(DataType::bfloat16) == 2);
  CHECK(size_of(IntegerType::int32) == 4);
  CHECK(size_of(IntegerType::int64) == 8);
}

TEST_CASE("a name that does not exist is answered with those that do") {
  CHECK(caught([] { (void)parse_data_type("half"); }) ==
        "invalid_argument: \"half\" is not a data type; use one of: float32, float16, bfloat16, "
        "float64, int8, int4, float8_e4m3, float8_e5m2.");
  CHECK(caught([] { (void)parse_integer_type("int"); }) ==
        "invalid_argument: \"int\" is not an integer type; use one of: int32, int64.");
  CHECK(caught([] { (void)parse_bad_ids("ignore"); }) ==
        "invalid_argument: \"ignore\" is not a policy for bad ids; use skip, report or trust.");
}

TEST_CASE("targets are read and written as sm_ and a compute capability") {
  CHECK(parse_target("sm_75") == Target{7, 5});
  CHECK(parse_target("sm_90") == Target{9, 0});
  CHECK(parse_target("sm_100") == Target{10, 0});
  CHECK(parse_target("sm_120") == Target{12, 0});
  CHECK(parse_target("sm_121") == Target{12, 1});
  CHECK(to_text(Target{8, 6}) == "sm_86");
  CHECK(to_text(parse_target("sm_120")) == "sm_120");
}

TEST_CASE("a target that is not one, or too old, is refused with a sentence") {
  for (const char* text : {"", "sm_", "sm_9", "sm_90a", "sm_9.0", "sm_-90", "sm_090", "sm_99999",
                           "compute_90", "SM_90", "90", " sm_90"}) {
    INFO(text);
    CHECK(caught([&] { (void)parse_target(text); }) ==
          "invalid_argument: \"" + std::string(text) +
              "\" is not a GPU architecture; write it as sm_ and the compute capability without "
              "its dot, such as sm_90.");
  }
  CHECK(caught([] { (void)parse_target("sm_70"); }) ==
        "invalid_argument: sm_70 is older than sm_75, the oldest architecture that jitbag writes "
        "kernels for; use sm_75 or later.");
}

}  // namespace
}  // namespace jitbag
