#include <array>
#include <functional>
#include <string>

#include "catch.hpp"
#include "jitbag/forward_spec.hpp"
#include "support/caught.hpp"

namespace jitbag {
namespace {

using Change = std::function<void(ForwardSpec&)>;

ForwardSpec changed(const Change& change) {
  ForwardSpec spec = {.dim = 64, .bags = FixedBags{4}};
  change(spec);
  return spec;
}

std::string complaint(const Change& change) {
  return test::caught([&] { static_cast<void>(validated(changed(change))); });
}

std::string text(const Change& change) {
  return to_text(validated(changed(change)));
}

bool has(const std::string& whole, const std::string& part) {
  INFO(whole);
  return whole.find(part) != std::string::npos;
}

TEST_CASE("several poolings keep their order, and none or one of them twice is refused") {
  const Poolings poolings = {Pooling::max, Pooling::sum};
  CHECK(poolings.size() == 2);
  CHECK(poolings[0] == Pooling::max);
  CHECK(poolings != Poolings{Pooling::sum, Pooling::max});
  CHECK(Poolings(Pooling::mean) == Poolings{Pooling::mean});
  CHECK(has(test::caught([] { static_cast<void>(Poolings(std::span<const Pooling>{})); }),
            "There are 0 poolings; give at least 1 and at most 6."));
  CHECK(has(complaint([](auto& spec) {
              spec.pooling = {Pooling::sum, Pooling::sum};
            }),
            "The pooling sum is there twice"));
  CHECK(has(complaint([](auto& spec) {
              spec.pooling = {Pooling::none, Pooling::sum};
            }),
            "The pooling none stands beside 1 others; it must be alone."));
}

TEST_CASE("poolings and their names lead to each other") {
  for (int number = 0; number <= static_cast<int>(Pooling::none); ++number) {
    const auto pooling = static_cast<Pooling>(number);
    CHECK(parse_pooling(name(pooling)) == pooling);
  }
  CHECK(has(test::caught([] { static_cast<void>(parse_pooling("avg")); }),
            "\"avg\" is not a pooling; use one of: sum, mean, mean_by_weights"));
}

TEST_CASE("what a pooling needs or has no use for is said") {
  CHECK(has(complaint([](auto& spec) { spec.pooling = Pooling::mean_by_weights; }),
            "mean_by_weights needs weights"));
  CHECK(has(complaint([](auto& spec) { spec.pooling = Pooling::mean_by_length; }),
            "mean_length is 0; it must be from 1"));
  CHECK(has(complaint([](auto& spec) { spec.mean_length = 3; }), "mean_length is 3"));
  CHECK(has(complaint([](auto& spec) { spec.winners = true; }), "winners is set without"));
  CHECK(has(complaint([](auto& spec) {
              spec.pooling = Pooling::none;
              spec.weight_type = DataType::float32;
            }),
            "There are weights of type float32, which the pooling none has no use for"));
  CHECK(complaint([](auto& spec) {
          spec.pooling = {Pooling::max, Pooling::sum};
          spec.weight_type = DataType::bfloat16;
        }) == "nothing");
}

TEST_CASE("codes are for tables alone") {
  CHECK(has(complaint([](auto& spec) { spec.output_type = DataType::int8; }),
            "output_type is int8; it must be float32"));
  CHECK(has(complaint([](auto& spec) { spec.weight_type = DataType::int4; }),
            "weight_type is int4; it must be float32"));
}

TEST_CASE("a row's bytes follow from its type and its layout") {
  const auto stride = [](DataType type, const RowScale& scale, std::int64_t dim) {
    return validated({.dim = dim, .table_type = type, .row_scale = scale}).row_stride;
  };
  const RowScale apart{};
  CHECK(stride(DataType::int8, apart, 33) == 33);
  CHECK(stride(DataType::int4, apart, 33) == 17);
  CHECK(stride(DataType::int8, fbgemm::inference_row(), 33) == 37);
  CHECK(stride(DataType::int4, fbgemm::inference_row(), 33) == 21);
  CHECK(stride(DataType::int8, fbgemm::fused_8bit_row(33), 33) == 44);
  CHECK(stride(DataType::int4, fbgemm::fused_4bit_row(33), 33) == 21);
  CHECK(stride(DataType::float64, apart, 33) == 33);
}

TEST_CASE("a scale among the codes, or of a type that is none, is refused") {
  CHECK(has(complaint([](auto& spec) {
              spec.table_type = DataType::int8;
              spec.row_scale = {RowScale::Place::in_row, DataType::float32, true, 60, 0};
            }),
            "row_scale.offset is 60, among the codes, which are at bytes 0 to 63 of a row"));
  CHECK(has(complaint([](auto& spec) {
              spec.table_type = DataType::int8;
              spec.row_scale.type = DataType::bfloat16;
            }),
            "row_scale.type is bfloat16; it must be float32 or float16."));
  CHECK(has(complaint([](auto& spec) {
              spec.table_type = DataType::int8;
              spec.row_stride = 63;
            }),
            "row_stride is 63; it must be at least a row's bytes, 64"));
}

TEST_CASE("the row layout of a table that is not quantised makes no difference") {
  const ForwardSpec plain = validated(changed([](auto&) {}));
  CHECK(validated(changed([](auto& spec) { spec.row_scale = fbgemm::inference_row(); })) == plain);
}

TEST_CASE("an output stride holds all poolings of a bag") {
  CHECK(validated(changed([](auto& spec) {
          spec.pooling = {Pooling::sum, Pooling::max};
        })).output_stride == 128);
  CHECK(has(complaint([](auto& spec) {
              spec.pooling = {Pooling::sum, Pooling::max};
              spec.output_stride = 127;
            }),
            "output_stride is 127; it must be at least dim times the number of poolings, 128"));
}

TEST_CASE("alignments of ids and output are those of the table unless they are given") {
  const auto alignments = [](const Change& change) {
    const ForwardSpec spec = validated(changed(change));
    return std::array{spec.alignment, spec.id_alignment, spec.output_alignment};
  };
  CHECK(alignments([](auto&) {}) == std::array<std::int64_t, 3>{16, 16, 16});
  CHECK(alignments([](auto& spec) { spec.alignment = 4; }) == std::array<std::int64_t, 3>{4, 8, 4});
  CHECK(alignments([](auto& spec) {
          spec.id_alignment = 8;
          spec.output_alignment = 64;
        }) == std::array<std::int64_t, 3>{16, 8, 16});
  CHECK(has(complaint([](auto& spec) { spec.output_alignment = 2; }),
            "output_alignment is 2; it must be a power of two and at least 4"));
}

TEST_CASE("an end that would leave its line of the source is refused") {
  for (const char* bad : {"x; y", "x\ny", "x #", "x %: y", "x \\"}) {
    INFO(bad);
    CHECK(has(complaint([&](auto& spec) { spec.end.element = bad; }), "write one CUDA expression"));
  }
  CHECK(has(complaint([](auto& spec) { spec.end.row_sum = "x * x"; }), "no element to use it"));
}

TEST_CASE("the text of a spec names all that is unusual about it") {
  CHECK(text([](auto& spec) {
          spec.pooling = {Pooling::mean_by_length, Pooling::max};
          spec.mean_length = 20;
          spec.winners = true;
        }) ==
        "embedding_bag mean_by_length(20)+max winners dim=64 bags=4 table=float32 output=float32 "
        "ids=int64 padding=none bad_ids=skip");
  CHECK(has(text([](auto& spec) {
              spec.table_type = DataType::int8;
              spec.row_scale = fbgemm::inference_row();
            }),
            " table=int8 scale=float16+bias@0 codes@4 "));
  CHECK(has(text([](auto& spec) {
              spec.table_type = DataType::float8_e4m3;
              spec.row_scale.place = RowScale::Place::nowhere;
            }),
            " table=float8_e4m3 scale=none "));
  CHECK(has(text([](auto& spec) {
              spec.weight_type = DataType::float16;
              spec.output_stride = 100;
              spec.counts = Counts::on_device;
              spec.id_alignment = 8;
              spec.end = {.element = "x * row_sum", .row_sum = "x"};
            }),
            " weights=float16 bad_ids=skip output_stride=100 id_alignment=8 counts=on_device "
            "end=\"x * row_sum\" row_sum=\"x\""));
}

}  // namespace
}  // namespace jitbag
