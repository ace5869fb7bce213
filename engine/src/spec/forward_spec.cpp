#include "jitbag/forward_spec.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <string_view>

#include "jitbag/error.hpp"
#include "spec/alignment.hpp"
#include "spec/bags_text.hpp"
#include "spec/refuse.hpp"
#include "spec/stride_limit.hpp"

namespace jitbag {
namespace {

/// Loop counters, column numbers and offsets within a row are 32-bit in the kernels, with room for
/// a group's worth beyond the end.
constexpr std::int64_t row_bits_limit = std::int64_t{1} << 33;
constexpr std::int64_t bag_limit = std::int64_t{1} << 30;

template <class Enumeration>
void check_enumerator(std::string_view field, Enumeration value, Enumeration last) {
  if (value > last) {
    refuse("{} has the number {}, which is none of its enumerators; use one of them.", field,
           static_cast<int>(value));
  }
}

/// Against numbers from outside that were cast without a look.
void check_enumerators(const ForwardSpec& spec) {
  for (const Pooling pooling : spec.pooling) check_enumerator("pooling", pooling, Pooling::none);
  check_enumerator("table_type", spec.table_type, DataType::float8_e5m2);
  check_enumerator("output_type", spec.output_type, DataType::float8_e5m2);
  if (spec.weight_type) {
    check_enumerator("weight_type", *spec.weight_type, DataType::float8_e5m2);
  }
  check_enumerator("row_scale.place", spec.row_scale.place, RowScale::Place::in_row);
  check_enumerator("row_scale.type", spec.row_scale.type, DataType::float8_e5m2);
  check_enumerator("id_type", spec.id_type, IntegerType::int64);
  check_enumerator("bad_ids", spec.bad_ids, BadIds::trust);
  check_enumerator("addressing", spec.addressing, Addressing::bits32);
  check_enumerator("counts", spec.counts, Counts::on_device);
  if (const auto* csr = std::get_if<CsrBags>(&spec.bags)) {
    check_enumerator("offset_type", csr->offset_type, IntegerType::int64);
    check_enumerator("the offsets' end", csr->end, OffsetsEnd::implied);
  }
}

void check_dim(std::int64_t dim, DataType table_type) {
  const std::int64_t dim_limit = row_bits_limit / std::max<std::int64_t>(bits_of(table_type), 32);
  if (dim < 0 || dim >= dim_limit) {
    refuse("dim is {}; it must be at least 0 and less than 2^28 (2^27 for float64).", dim);
  }
}

void check_bags(const BagLayout& bags) {
  const auto* fixed = std::get_if<FixedBags>(&bags);
  if (fixed != nullptr && (fixed->size < 0 || fixed->size >= bag_limit)) {
    refuse("The bag size is {}; it must be at least 0 and less than 2^30.", fixed->size);
  }
}

void check_poolings(const ForwardSpec& spec) {
  const Poolings& pooling = spec.pooling;
  for (auto one = pooling.begin(); one != pooling.end(); ++one) {
    if (std::find(pooling.begin(), one, *one) != one) {
      refuse("The pooling {} is there twice; name each one once.", name(*one));
    }
  }
  if (pooling.has(Pooling::none) && pooling.size() > 1) {
    refuse("The pooling none stands beside {} others; it must be alone.", pooling.size() - 1);
  }
  if (pooling.has(Pooling::mean_by_weights) && !spec.weight_type) {
    refuse("The pooling mean_by_weights needs weights; set weight_type, or use mean.");
  }
  const bool has_length = pooling.has(Pooling::mean_by_length);
  if (has_length ? spec.mean_length < 1 || spec.mean_length >= bag_limit : spec.mean_length != 0) {
    refuse(
        "mean_length is {}; it must be from 1 to less than 2^30 with the pooling "
        "mean_by_length, and 0 without.",
        spec.mean_length);
  }
  if (spec.weight_type && std::none_of(pooling.begin(), pooling.end(), is_sum_or_mean)) {
    refuse(
        "There are weights of type {}, which the pooling {} has no use for; use a sum or a "
        "mean, or leave weight_type unset.",
        name(*spec.weight_type), name(pooling[0]));
  }
  if (spec.winners && !pooling.has(Pooling::max)) {
    refuse("winners is set without the pooling max, which alone has winners; add max or unset it.");
  }
}

void check_types(const ForwardSpec& spec) {
  if (is_quantised(spec.output_type)) {
    refuse("output_type is {}; it must be float32, float16, bfloat16 or float64.",
           name(spec.output_type));
  }
  if (spec.weight_type && is_quantised(*spec.weight_type)) {
    refuse("weight_type is {}; it must be float32, float16, bfloat16 or float64.",
           name(*spec.weight_type));
  }
}

std::int64_t scale_bytes(const RowScale& scale) {
  return size_of(scale.type) * (scale.has_bias ? 2 : 1);
}

/// Bytes that a row takes at least: its codes, and what stands before or after them.
std::int64_t packed_row_bytes(const ForwardSpec& spec) {
  if (!is_quantised(spec.table_type)) return row_bytes(spec);
  const RowScale& scale = spec.row_scale;
  const std::int64_t codes_end = scale.codes_offset + row_bytes(spec);
  return scale.place == RowScale::Place::in_row
             ? std::max(codes_end, scale.offset + scale_bytes(scale))
             : codes_end;
}

/// A float table has no scale: whatever was given compares equal.
void normalise_row_scale(ForwardSpec& spec) {
  RowScale& scale = spec.row_scale;
  if (!is_quantised(spec.table_type)) {
    scale = RowScale{};
    return;
  }
  if (scale.type != DataType::float32 && scale.type != DataType::float16) {
    refuse("row_scale.type is {}; it must be float32 or float16.", name(scale.type));
  }
  if (scale.codes_offset < 0 || scale.codes_offset >= stride_limit) {
    refuse("row_scale.codes_offset is {}; it must be at least 0 and less than 2^31.",
           scale.codes_offset);
  }
  if (scale.place != RowScale::Place::in_row) {
    scale.offset = 0;
    if (scale.place == RowScale::Place::nowhere) {
      scale.type = DataType::float32;
      scale.has_bias = false;
    }
    return;
  }
  if (scale.offset < 0 || scale.offset >= stride_limit) {
    refuse("row_scale.offset is {}; it must be at least 0 and less than 2^31.", scale.offset);
  }
  const bool before = scale.offset + scale_bytes(scale) <= scale.codes_offset;
  const bool after = scale.offset >= scale.codes_offset + row_bytes(spec);
  if (!before && !after) {
    refuse(
        "row_scale.offset is {}, among the codes, which are at bytes {} to {} of a row; put it "
        "before or after them.",
        scale.offset, scale.codes_offset, scale.codes_offset + row_bytes(spec) - 1);
  }
}

void check_padding_id(const ForwardSpec& spec) {
  using Int32 = std::numeric_limits<std::int32_t>;
  if (!spec.padding_id || spec.id_type == IntegerType::int64) return;
  if (*spec.padding_id < Int32::min() || *spec.padding_id > Int32::max()) {
    refuse("padding_id is {}, which no int32 id can equal; use int64 ids or another padding_id.",
           *spec.padding_id);
  }
}

void fill_strides(ForwardSpec& spec) {
  const bool in_bytes = is_quantised(spec.table_type);
  const std::int64_t least = in_bytes ? packed_row_bytes(spec) : spec.dim;
  if (spec.row_stride == 0) spec.row_stride = least;
  if (spec.row_stride < least || spec.row_stride >= stride_limit) {
    refuse("row_stride is {}; it must be at least {}, {}, and less than 2^31, or 0 for that.",
           spec.row_stride, in_bytes ? "a row's bytes" : "dim", least);
  }
  const std::int64_t width = output_width(spec);
  if (spec.output_stride == 0) spec.output_stride = width;
  if (spec.output_stride < width || spec.output_stride >= stride_limit) {
    refuse(
        "output_stride is {}; it must be at least dim times the number of poolings, {}, and "
        "less than 2^31, or 0 for that.",
        spec.output_stride, width);
  }
}

void fill_alignments(ForwardSpec& spec) {
  spec.alignment =
      alignment_of("alignment", spec.alignment, 0, size_of(spec.table_type), name(spec.table_type));
  spec.id_alignment = alignment_of("id_alignment", spec.id_alignment, spec.alignment,
                                   size_of(spec.id_type), name(spec.id_type));
  spec.output_alignment = alignment_of("output_alignment", spec.output_alignment, spec.alignment,
                                       size_of(spec.output_type), name(spec.output_type));
}

/// Nothing that could end the line on which the expression stands in the source, or begin a
/// directive there.
void check_end(const FusedEnd& end) {
  using namespace std::string_view_literals;
  for (const std::string* text : {&end.element, &end.row_sum}) {
    for (const std::string_view unwanted : {"\0"sv, "\n"sv, "\r"sv, "\\"sv, "#"sv, "%:"sv, ";"sv}) {
      if (text->find(unwanted) == std::string::npos) continue;
      refuse(
          "The end's expression \"{}\" has a line break, a semicolon, a backslash, a # or a NUL "
          "character in it; write one CUDA expression.",
          *text);
    }
  }
  if (!end.row_sum.empty() && end.element.empty()) {
    refuse(
        "The end has a row_sum, \"{}\", and no element to use it; give an element such as "
        "\"x * rsqrtf(row_sum)\".",
        end.row_sum);
  }
}

std::string poolings_text(const ForwardSpec& spec) {
  std::string text;
  for (const Pooling pooling : spec.pooling) {
    text += fmt::format("{}{}", text.empty() ? "" : "+", name(pooling));
    if (pooling == Pooling::mean_by_length) text += fmt::format("({})", spec.mean_length);
  }
  return text + (spec.winners ? " winners" : "");
}

std::string scale_text(const ForwardSpec& spec) {
  if (!is_quantised(spec.table_type)) return {};
  const RowScale& scale = spec.row_scale;
  std::string text;
  if (scale.place == RowScale::Place::nowhere) {
    text = " scale=none";
  } else {
    text = fmt::format(" scale={}{}", name(scale.type), scale.has_bias ? "+bias" : "");
    if (scale.place == RowScale::Place::in_row) text += fmt::format("@{}", scale.offset);
  }
  if (scale.codes_offset != 0) text += fmt::format(" codes@{}", scale.codes_offset);
  return text;
}

}  // namespace

std::string bags_text(const BagLayout& bags) {
  if (const auto* fixed = std::get_if<FixedBags>(&bags)) return fmt::format("{}", fixed->size);
  const auto& csr = std::get<CsrBags>(bags);
  return fmt::format("csr offsets={}{}", name(csr.offset_type),
                     csr.end == OffsetsEnd::implied ? " end=implied" : "");
}

std::int64_t row_bytes(const ForwardSpec& spec) {
  return (spec.dim * bits_of(spec.table_type) + 7) / 8;
}

std::int64_t row_stride_bytes(const ForwardSpec& spec) {
  return is_quantised(spec.table_type) ? spec.row_stride
                                       : spec.row_stride * size_of(spec.table_type);
}

std::int64_t output_width(const ForwardSpec& spec) {
  return spec.dim * static_cast<std::int64_t>(spec.pooling.size());
}

ForwardSpec validated(ForwardSpec spec) {
  check_enumerators(spec);
  check_dim(spec.dim, spec.table_type);
  check_bags(spec.bags);
  check_poolings(spec);
  check_types(spec);
  check_padding_id(spec);
  normalise_row_scale(spec);
  fill_strides(spec);
  fill_alignments(spec);
  check_end(spec.end);
  return spec;
}

std::string to_text(const ForwardSpec& spec) {
  std::string text =
      fmt::format("embedding_bag {} dim={} bags={} table={}{} output={} ids={} padding={}",
                  poolings_text(spec), spec.dim, bags_text(spec.bags), name(spec.table_type),
                  scale_text(spec), name(spec.output_type), name(spec.id_type),
                  spec.padding_id ? fmt::to_string(*spec.padding_id) : "none");
  const auto end = std::back_inserter(text);
  if (spec.weight_type) fmt::format_to(end, " weights={}", name(*spec.weight_type));
  fmt::format_to(end, " bad_ids={}", name(spec.bad_ids));
  const std::int64_t least = is_quantised(spec.table_type) ? packed_row_bytes(spec) : spec.dim;
  if (spec.row_stride != 0 && spec.row_stride != least) {
    fmt::format_to(end, " row_stride={}", spec.row_stride);
  }
  if (spec.output_stride != 0 && spec.output_stride != output_width(spec)) {
    fmt::format_to(end, " output_stride={}", spec.output_stride);
  }
  if (spec.alignment < widest_alignment) fmt::format_to(end, " alignment={}", spec.alignment);
  const auto add_alignment = [&](std::string_view field, std::int64_t alignment,
                                 std::int64_t element) {
    const std::int64_t usual = std::max(std::min(spec.alignment, widest_alignment), element);
    if (alignment != 0 && alignment != usual) fmt::format_to(end, " {}={}", field, alignment);
  };
  add_alignment("id_alignment", spec.id_alignment, size_of(spec.id_type));
  add_alignment("output_alignment", spec.output_alignment, size_of(spec.output_type));
  if (spec.addressing == Addressing::bits32) fmt::format_to(end, " addressing=bits32");
  if (spec.counts == Counts::on_device) fmt::format_to(end, " counts=on_device");
  if (!spec.end.element.empty()) fmt::format_to(end, " end=\"{}\"", spec.end.element);
  if (!spec.end.row_sum.empty()) fmt::format_to(end, " row_sum=\"{}\"", spec.end.row_sum);
  return text;
}

std::string_view name(BadIds policy) {
  switch (policy) {
    case BadIds::skip:
      return "skip";
    case BadIds::report:
      return "report";
    case BadIds::trust:
      return "trust";
  }
  refuse("{} is not the number of a BadIds policy; use one of its enumerators.",
         static_cast<int>(policy));
}

BadIds parse_bad_ids(std::string_view text) {
  for (const auto policy : {BadIds::skip, BadIds::report, BadIds::trust}) {
    if (text == name(policy)) return policy;
  }
  refuse("\"{}\" is not a policy for bad ids; use skip, report or trust.", text);
}

}  // namespace jitbag
