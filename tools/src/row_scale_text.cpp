#include "row_scale_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <optional>

#include "arguments.hpp"

namespace jitbag::tools {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw UsageError(fmt::format("the row scale '{}' is not known, choose {}", text, row_scale_form));
}

/// Takes `prefix` from the begin of the text, if it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// "in_row+bias@0:codes@4" and its like.
std::optional<RowScale> within_row(std::string_view text) {
  RowScale scale{.place = RowScale::Place::in_row};
  if (!take(text, "in_row")) return std::nullopt;
  scale.has_bias = take(text, "+bias");
  if (!take(text, "@")) return std::nullopt;
  const auto offset = take_number(text);
  if (!offset) return std::nullopt;
  scale.offset = *offset;
  if (take(text, ":codes@")) {
    const auto codes_offset = take_number(text);
    if (!codes_offset) return std::nullopt;
    scale.codes_offset = *codes_offset;
  }
  return text.empty() ? std::optional(scale) : std::nullopt;
}

bool is_float8(DataType type) {
  return type == DataType::float8_e4m3 || type == DataType::float8_e5m2;
}

void set_fbgemm_inference(ForwardSpec& spec) {
  constexpr std::int64_t row_alignment = 16;
  spec.row_scale = is_float8(spec.table_type) ? RowScale{.place = RowScale::Place::nowhere}
                                              : fbgemm::inference_row();
  const std::int64_t bytes = spec.row_scale.codes_offset + row_bytes(spec);
  spec.row_stride = (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

void set_fbgemm_fused(ForwardSpec& spec) {
  if (is_float8(spec.table_type))
    throw UsageError(
        fmt::format("the row scale fbgemm_fused is of int8 and int4 tables, and this "
                    "one is {}; choose another",
                    name(spec.table_type)));
  spec.row_scale = spec.table_type == DataType::int8 ? fbgemm::fused_8bit_row(spec.dim)
                                                     : fbgemm::fused_4bit_row(spec.dim);
}

}  // namespace

void check_row_scale(std::string_view text) {
  for (const char* known : {"apart", "apart+bias", "none", "fbgemm_inference", "fbgemm_fused"}) {
    if (text == known) return;
  }
  if (!within_row(text)) refuse(text);
}

void set_row_scale(ForwardSpec& spec, std::string_view text) {
  if (!is_quantised(spec.table_type)) return;
  if (text == "fbgemm_inference") return set_fbgemm_inference(spec);
  if (text == "fbgemm_fused") return set_fbgemm_fused(spec);
  RowScale scale;
  if (const auto given = within_row(text)) scale = *given;
  if (text == "none") scale.place = RowScale::Place::nowhere;
  if (text == "apart+bias") scale.has_bias = true;
  scale.type = spec.row_scale.type;
  spec.row_scale = scale;
}

}  // namespace jitbag::tools
