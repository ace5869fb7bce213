#include "spec/arguments.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "catch.hpp"
#include "support/caught.hpp"

namespace jitbag {
namespace {

alignas(64) std::byte memory[64];

ForwardSpec good_spec() {
  ForwardSpec spec;
  spec.dim = 4;
  spec.bags = FixedBags{2};
  return validated(spec);
}

ForwardArguments good_arguments() {
  ForwardArguments arguments;
  arguments.table = memory;
  arguments.num_rows = 10;
  arguments.ids = memory;
  arguments.num_ids = 6;
  arguments.offsets = memory;
  arguments.output = memory;
  arguments.batch = 3;
  return arguments;
}

/// What the check says after a change to a good spec and good arguments.
template <class Change>
std::string complaint(Change change) {
  ForwardSpec spec = good_spec();
  ForwardArguments arguments = good_arguments();
  change(spec, arguments);
  spec.id_alignment = spec.output_alignment = 0;  // follow from what the change has made of them
  return test::caught([&] { check_arguments(validated(spec), arguments); });
}

bool mentions(const std::string& text, const std::string& part) {
  return text.rfind("invalid_argument: ", 0) == 0 && text.find(part) != std::string::npos;
}

TEST_CASE("good arguments pass") {
  CHECK(complaint([](auto&, auto&) {}) == "nothing");
  CHECK(complaint([](auto& spec, auto&) { spec.bags = CsrBags{}; }) == "nothing");
}

TEST_CASE("negative sizes are refused by name") {
  CHECK(complaint([](auto&, auto& arguments) { arguments.num_rows = -1; }) ==
        "invalid_argument: num_rows is -1; it must be 0 or more.");
  CHECK(complaint([](auto&, auto& arguments) { arguments.batch = -2; }) ==
        "invalid_argument: batch is -2; it must be 0 or more.");
  CHECK(complaint([](auto& spec, auto& arguments) {
          spec.bags = CsrBags{};
          arguments.num_ids = -3;
        }) == "invalid_argument: num_ids is -3; it must be 0 or more.");
}

TEST_CASE("a fixed layout does not look at num_ids and offsets") {
  CHECK(complaint([](auto&, auto& arguments) {
          arguments.num_ids = -3;
          arguments.offsets = nullptr;
        }) == "nothing");
}

TEST_CASE("a null pointer is refused where there are elements") {
  CHECK(complaint([](auto&, auto& arguments) { arguments.table = nullptr; }) ==
        "invalid_argument: table is a null pointer although it has 40 elements; pass its address.");
  CHECK(complaint([](auto&, auto& arguments) { arguments.ids = nullptr; }) ==
        "invalid_argument: ids is a null pointer although it has 6 elements; pass its address.");
  CHECK(complaint([](auto&, auto& arguments) { arguments.output = nullptr; }) ==
        "invalid_argument: output is a null pointer although it has 12 elements; pass its "
        "address.");
  CHECK(complaint([](auto& spec, auto& arguments) {
          spec.bags = CsrBags{};
          arguments.offsets = nullptr;
        }) ==
        "invalid_argument: offsets is a null pointer although it has 4 elements; pass its "
        "address.");
  CHECK(complaint([](auto& spec, auto& arguments) {
          spec.bags = CsrBags{IntegerType::int32, OffsetsEnd::implied};
          arguments.offsets = nullptr;
        }) ==
        "invalid_argument: offsets is a null pointer although it has 3 elements; pass its "
        "address.");
}

TEST_CASE("null pointers to nothing pass") {
  CHECK(complaint([](auto& spec, auto& arguments) {
          spec.bags = CsrBags{};
          arguments = ForwardArguments{};
        }) == "nothing");
  CHECK(complaint([](auto& spec, auto& arguments) {
          spec.bags = FixedBags{0};
          arguments.ids = nullptr;
        }) == "nothing");
  CHECK(complaint([](auto&, auto& arguments) {
          arguments.num_rows = 0;
          arguments.table = nullptr;
        }) == "nothing");
}

TEST_CASE("addresses must be multiples of the spec's alignment, and of their elements' size") {
  CHECK(mentions(complaint([](auto&, auto& arguments) { arguments.table = memory + 8; }),
                 "which is not a multiple of 16 bytes"));
  CHECK(
      mentions(complaint([](auto&, auto& arguments) { arguments.ids = memory + 8; }), "ids is at"));
  CHECK(mentions(complaint([](auto&, auto& arguments) { arguments.output = memory + 4; }),
                 "output is at"));
  CHECK(complaint([](auto& spec, auto& arguments) {
          spec.alignment = 4;
          arguments.table = memory + 4;
          arguments.ids = memory + 8;
          arguments.output = memory + 12;
        }) == "nothing");
  CHECK(mentions(complaint([](auto& spec, auto& arguments) {
                   spec.alignment = 4;
                   arguments.ids = memory + 4;
                 }),
                 "which is not a multiple of 8 bytes"));
  CHECK(mentions(complaint([](auto& spec, auto& arguments) {
                   spec.table_type = DataType::float16;
                   spec.alignment = 2;
                   arguments.output = memory + 2;
                 }),
                 "which is not a multiple of 4 bytes"));
  CHECK(mentions(complaint([](auto& spec, auto& arguments) {
                   spec.bags = CsrBags{};
                   arguments.offsets = memory + 4;
                 }),
                 "offsets is at"));
}

TEST_CASE("32-bit addressing refuses what passes 2^31, and 64-bit addressing does not") {
  constexpr std::int64_t many = std::int64_t{1} << 31;
  const auto rows = [](auto&, auto& arguments) { arguments.num_rows = many; };
  const auto ids = [](auto& spec, auto& arguments) {
    spec.bags = CsrBags{};
    arguments.num_ids = many;
  };
  const auto outputs = [](auto&, auto& arguments) { arguments.batch = many / 4; };
  const auto narrow = [](auto change) {
    return complaint([change](auto& spec, auto& arguments) {
      spec.addressing = Addressing::bits32;
      change(spec, arguments);
    });
  };
  CHECK(narrow(rows) ==
        "invalid_argument: There are 2147483648 rows, but Addressing::bits32 allows fewer than "
        "2^31; use bits64.");
  CHECK(mentions(narrow(ids), "2147483648 ids"));
  CHECK(mentions(narrow(outputs), "2147483648 output elements"));
  CHECK(complaint(rows) == "nothing");
  CHECK(complaint(ids) == "nothing");
  CHECK(complaint(outputs) == "nothing");
  CHECK(narrow([](auto&, auto& arguments) { arguments.num_rows = many - 1; }) == "nothing");
}

TEST_CASE("sizes whose product passes 64 bits are refused") {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  CHECK(mentions(complaint([](auto&, auto& arguments) { arguments.num_rows = huge; }),
                 "The table would have 9223372036854775807 times 4 elements"));
  CHECK(mentions(complaint([](auto&, auto& arguments) { arguments.batch = huge / 8; }),
                 " would have 1152921504606846975 times "));
}

TEST_CASE("inputs can be checked without an output") {
  ForwardArguments arguments = good_arguments();
  arguments.output = nullptr;
  CHECK(test::caught([&] { check_inputs(good_spec(), arguments); }) == "nothing");
}

TEST_CASE("a bad id is reported with its value and its place") {
  BadInput bad{.bag = 4, .position = 17, .value = 1000005, .limit = 1000000};
  const auto sentence = [&] { return test::caught([&] { throw bad_input_error(bad); }); };
  CHECK(sentence() ==
        "bad_id: id 1000005 at position 17 of bag 4 is outside the table's 1000000 rows; correct "
        "the ids, or set bad_ids to skip.");
  bad.table = 3;
  CHECK(sentence().find("position 17 of bag 4 of table 3 is outside") != std::string::npos);
}

TEST_CASE("a bag that is not among the ids is reported with its begin and its end") {
  const BadInput bad{.kind = BadInput::Kind::bag, .bag = 4, .position = 7, .value = 3, .limit = 20};
  CHECK(test::caught([&] { throw bad_input_error(bad); }) ==
        "bad_offset: the offsets say that bag 4 begins at id 7 and ends before id 3, but there are "
        "20 ids and no bag ends before it begins; correct the offsets, or set bad_ids to skip.");
}

TEST_CASE("what a spec needs besides table, ids and output is asked for, and nothing else") {
  const auto with = [](const std::function<void(ForwardSpec&)>& change) {
    ForwardSpec spec = good_spec();
    change(spec);
    return test::caught([&] { check_arguments(validated(spec), good_arguments()); });
  };
  CHECK(mentions(with([](auto& spec) { spec.weight_type = DataType::float32; }),
                 "weights is a null pointer"));
  CHECK(mentions(with([](auto& spec) { spec.counts = Counts::on_device; }),
                 "counts is a null pointer although it has 2 elements"));
  CHECK(mentions(with([](auto& spec) {
                   spec.pooling = Pooling::max;
                   spec.winners = true;
                 }),
                 "winners is a null pointer"));
  CHECK(mentions(with([](auto& spec) { spec.table_type = DataType::int8; }),
                 "scales is a null pointer"));
  CHECK(with([](auto& spec) {
          spec.table_type = DataType::int8;
          spec.row_scale.place = RowScale::Place::nowhere;
        }) == "nothing");
}

}  // namespace
}  // namespace jitbag
