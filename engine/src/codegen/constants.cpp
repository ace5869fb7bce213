#include "codegen/constants.hpp"

#include <spdlog/fmt/fmt.h>

#include "codegen/source_text.hpp"

namespace jitbag::codegen {
namespace {

std::string types(const ForwardSpec& spec, bool is_wide) {
  const auto* csr = std::get_if<CsrBags>(&spec.bags);
  return fmt::format(
      R"(using Table = {table};
using Scale = {scale};
using Weight = {weight};
using Value = {value};  // of sums and maxima
using Output = {output};
using Id = {id};
using Offset = {offset};
using Index = {index};  // of bags and of positions within the ids
)",
      fmt::arg("table", cuda_type(spec.table_type, spec.row_scale.has_bias)),
      fmt::arg("scale", cuda_type(spec.row_scale.type)),
      fmt::arg("weight", cuda_type(spec.weight_type.value_or(DataType::float32))),
      fmt::arg("value", is_wide || spec.table_type == DataType::float64 ? "double" : "float"),
      fmt::arg("output", cuda_type(spec.output_type)), fmt::arg("id", cuda_type(spec.id_type)),
      fmt::arg("offset", cuda_type(csr ? csr->offset_type : IntegerType::int64)),
      fmt::arg("index", spec.addressing == Addressing::bits32 ? "unsigned int" : "long long"));
}

std::string_view place_of_scale(const ForwardSpec& spec) {
  if (!is_quantised(spec.table_type)) return "nowhere";
  switch (spec.row_scale.place) {
    case RowScale::Place::nowhere:
      return "nowhere";
    case RowScale::Place::apart:
      return "apart";
    case RowScale::Place::in_row:
      return "in_row";
  }
  return {};
}

std::string bags(const ForwardSpec& spec) {
  const auto* fixed = std::get_if<FixedBags>(&spec.bags);
  const auto* csr = std::get_if<CsrBags>(&spec.bags);
  return fmt::format(
      R"(constexpr long long bag_size = {bag_size};  // -1: CSR
constexpr bool offsets_include_end = {offsets_include_end};
constexpr bool counts_are_on_device = {counts_are_on_device};
constexpr bool has_padding = {has_padding};
constexpr long long padding_id = {padding_id};
enum {{ skip_ids, report_ids, trust_ids }};
constexpr int bad_ids = {bad_ids}_ids;
constexpr int id_alignment = {alignment};
constexpr bool has_weights = {has_weights};
constexpr bool addresses_are_32_bit = {is_32_bit};
)",
      fmt::arg("bag_size", literal(fixed ? fixed->size : -1)),
      fmt::arg("offsets_include_end", csr && csr->end == OffsetsEnd::included),
      fmt::arg("counts_are_on_device", spec.counts == Counts::on_device),
      fmt::arg("has_padding", spec.padding_id.has_value()),
      fmt::arg("padding_id", literal(spec.padding_id.value_or(0))),
      fmt::arg("bad_ids", name(spec.bad_ids)), fmt::arg("alignment", spec.id_alignment),
      fmt::arg("has_weights", spec.weight_type.has_value()),
      fmt::arg("is_32_bit", spec.addressing == Addressing::bits32));
}

/// "no" rather than "none", so that the enumerator reads like the others.
std::string enumerator(Pooling pooling) {
  return fmt::format("{}_pooling", pooling == Pooling::none ? "no" : name(pooling));
}

/// A function rather than an array, which would need an address on the device.
std::string poolings(const ForwardSpec& spec) {
  std::string chosen;
  for (std::size_t i = 0; i + 1 < spec.pooling.size(); ++i) {
    chosen += fmt::format("i == {} ? {} : ", i, enumerator(spec.pooling[i]));
  }
  chosen += enumerator(spec.pooling[spec.pooling.size() - 1]);
  return fmt::format(
      R"(enum {{
  sum_pooling,
  mean_pooling,
  mean_by_weights_pooling,
  mean_by_length_pooling,
  mean_by_sqrt_pooling,
  max_pooling,
  no_pooling
}};
constexpr int num_poolings = {count};
constexpr int pooling_at(int{parameter}) {{
  return {chosen};
}}
constexpr bool has_pooling(int pooling) {{
  for (int i = 0; i < num_poolings; ++i) {{
    if (pooling_at(i) == pooling) return true;
  }}
  return false;
}}
constexpr long long mean_length = {mean_length};
constexpr bool has_winners = {winners};
constexpr long long output_stride = {stride};
constexpr int output_alignment = {alignment};
)",
      fmt::arg("count", spec.pooling.size()),
      fmt::arg("parameter", spec.pooling.size() > 1 ? " i" : ""), fmt::arg("chosen", chosen),
      fmt::arg("mean_length", literal(std::max<std::int64_t>(spec.mean_length, 1))),
      fmt::arg("winners", spec.winners), fmt::arg("stride", literal(spec.output_stride)),
      fmt::arg("alignment", spec.output_alignment));
}

/// The body of one of the end's functions, the caller's expression on a line of its own.
std::string returned(std::string_view file, std::string_view expression) {
  return fmt::format("  return (Value)(\n#line 1 \"{}\"\n{}{}  );\n", file, expression,
                     own_lines_again);
}

std::string shape(const Strategy& strategy) {
  return fmt::format(
      R"(constexpr int vector_bytes = {vector_bytes};
constexpr int vectors_per_lane = {vectors_per_lane};
constexpr int lanes_per_row = {lanes_per_row};
constexpr int bag_lanes = {bag_lanes};
constexpr int rows_in_flight = {rows_in_flight};
constexpr int bags_per_group = {bags_per_group};
constexpr int block_threads = {block_threads};
)",
      fmt::arg("vector_bytes", strategy.vector_bytes),
      fmt::arg("vectors_per_lane", strategy.vectors_per_lane),
      fmt::arg("lanes_per_row", strategy.lanes_per_row), fmt::arg("bag_lanes", strategy.bag_lanes),
      fmt::arg("rows_in_flight", strategy.rows_in_flight),
      fmt::arg("bags_per_group", strategy.bags_per_group),
      fmt::arg("block_threads", strategy.block_threads));
}

}  // namespace

std::string declarations() {
  return R"(struct float16;
struct bfloat16;
struct code_int8;
struct code_uint8;
struct code_int4;
struct code_uint4;
struct float8_e4m3;
struct float8_e5m2;
)";
}

std::string launch_mode(LaunchMode mode) {
  return fmt::format("constexpr bool waits_for_previous_kernel = {};\n",
                     mode == LaunchMode::dependent);
}

std::string row_layout(const ForwardSpec& spec) {
  return fmt::format(
      R"(constexpr int dim = {dim};
constexpr long long row_stride_bytes = {row_stride};
constexpr int codes_offset = {codes_offset};
enum {{ scale_is_nowhere, scale_is_apart, scale_is_in_row }};
constexpr int scale_place = scale_is_{place};
constexpr long long scale_offset = {scale_offset};
constexpr bool has_bias = {has_bias};
)",
      fmt::arg("dim", spec.dim), fmt::arg("row_stride", literal(row_stride_bytes(spec))),
      fmt::arg("codes_offset", spec.row_scale.codes_offset),
      fmt::arg("place", place_of_scale(spec)),
      fmt::arg("scale_offset", literal(spec.row_scale.offset)),
      fmt::arg("has_bias", spec.row_scale.has_bias));
}

std::string end_constants(const FusedEnd& end) {
  return fmt::format(
      R"(constexpr bool has_row_sum = {has_row_sum};
inline Value end_row_sum(Value x, int column, long long bag, int count, int pooling,
                         const float* parameters) {{
{row_sum}}}
inline Value end_element(Value x, int column, long long bag, int count, int pooling,
                         const float* parameters, Value row_sum) {{
{element}}}
)",
      fmt::arg("has_row_sum", !end.row_sum.empty()),
      fmt::arg("row_sum",
               end.row_sum.empty() ? "  return 0;\n" : returned("end.row_sum", end.row_sum)),
      fmt::arg("element",
               end.element.empty() ? "  return x;\n" : returned("end.element", end.element)));
}

std::string constants(const ForwardSpec& spec, const Strategy& strategy, bool is_wide) {
  return types(spec, is_wide) + '\n' + row_layout(spec) +
         fmt::format("constexpr int table_alignment = {};\n\n", spec.alignment) + bags(spec) +
         '\n' + poolings(spec) + '\n' + shape(strategy);
}

}  // namespace jitbag::codegen
