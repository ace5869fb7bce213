#include <spdlog/fmt/fmt.h>

#include "codegen/constants.hpp"
#include "codegen/own_template.hpp"
#include "codegen/quantiser_shape.hpp"
#include "codegen/source_text.hpp"
#include "jitbag/specialisation.hpp"
#include "spec/quantiser_spec.hpp"

namespace jitbag {
namespace {

std::string constants(const ForwardSpec& spec) {
  const QuantiserShape shape = quantiser_shape(spec);
  return fmt::format(
      R"(using Table = {table};
using Scale = {scale};

{row_layout}
constexpr int lanes_per_row = {lanes_per_row};
constexpr int block_threads = {block_threads};
)",
      fmt::arg("table", codegen::cuda_type(spec.table_type, spec.row_scale.has_bias)),
      fmt::arg("scale", codegen::cuda_type(spec.row_scale.type)),
      fmt::arg("row_layout", codegen::row_layout(spec)),
      fmt::arg("lanes_per_row", shape.lanes_per_row),
      fmt::arg("block_threads", shape.block_threads));
}

}  // namespace

QuantiserShape quantiser_shape(const ForwardSpec& spec) {
  constexpr std::int64_t bytes_per_lane = 4;
  QuantiserShape shape;
  while (shape.lanes_per_row > 1 && (shape.lanes_per_row / 2) * bytes_per_lane >= row_bytes(spec)) {
    shape.lanes_per_row /= 2;
  }
  return shape;
}

Specialisation quantiser_specialisation(const ForwardSpec& raw, const Target& target) {
  const ForwardSpec spec = quantiser_spec(raw);
  const std::string name = "quantise_rows.cu";
  return codegen::own_template(
      name, "quantise_rows",
      fmt::format("// Rows of {} float32 values to {}\n// {}\n\n{}\n{}\n{}", spec.dim,
                  jitbag::name(spec.table_type), to_text(target), codegen::declarations(),
                  constants(spec), codegen::template_text(name)),
      target);
}

}  // namespace jitbag
