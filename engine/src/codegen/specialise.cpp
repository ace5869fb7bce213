#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "jitbag/error.hpp"
#include "jitbag/specialisation.hpp"
#include "kernel_templates.hpp"

namespace jitbag {
namespace {

/// The text of a template with its `#include "..."` lines replaced by the files they name.
std::string with_includes(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    constexpr std::string_view include = "#include \"";
    if (line.starts_with(include)) {
      const std::string_view name = line.substr(include.size(), line.rfind('"') - include.size());
      result += with_includes(templates::find(name));
    } else {
      result += line;
    }
  }
  return result;
}

std::string_view cuda_type(DataType type) {
  switch (type) {
    case DataType::float32:
      return "float";
    case DataType::float16:
      return "float16";
    case DataType::bfloat16:
      return "bfloat16";
  }
  return {};
}

std::string_view cuda_type(IntegerType type) {
  return type == IntegerType::int32 ? "int" : "long long";
}

/// A literal that is right for the lowest value too, which has no literal of its own.
std::string literal(std::int64_t value) {
  return value == INT64_MIN ? "(-0x7fffffffffffffffll - 1)" : fmt::format("{}ll", value);
}

std::string constants_block(const ForwardSpec& spec, const Strategy& strategy,
                            const Target& target) {
  const auto* fixed = std::get_if<FixedBags>(&spec.bags);
  const auto* csr = std::get_if<CsrBags>(&spec.bags);
  return fmt::format(
      R"(// {spec}
// {strategy}
// {target}

struct float16;
struct bfloat16;
using Table = {table};
using Output = {output};
using Id = {id};
using Offset = {offset};
using Index = {index};  // of bags and of positions within the ids

constexpr int dim = {dim};
constexpr long long row_stride = {row_stride};
constexpr long long bag_size = {bag_size};  // -1: CSR
constexpr bool offsets_include_end = {offsets_include_end};
constexpr bool has_padding = {has_padding};
constexpr long long padding_id = {padding_id};
enum {{ skip_ids, report_ids, trust_ids }};
constexpr int bad_ids = {bad_ids}_ids;
constexpr int base_alignment = {alignment};
constexpr bool addresses_are_32_bit = {is_32_bit};

constexpr int vector_bytes = {vector_bytes};
constexpr int vectors_per_lane = {vectors_per_lane};
constexpr int lanes_per_row = {lanes_per_row};
constexpr int bag_lanes = {bag_lanes};
constexpr int rows_in_flight = {rows_in_flight};
constexpr int block_threads = {block_threads};
constexpr bool waits_for_previous_kernel = {waits};

)",
      fmt::arg("spec", to_text(spec)), fmt::arg("strategy", to_text(strategy)),
      fmt::arg("target", to_text(target)), fmt::arg("table", cuda_type(spec.table_type)),
      fmt::arg("output", cuda_type(spec.output_type)), fmt::arg("id", cuda_type(spec.id_type)),
      fmt::arg("offset", cuda_type(csr ? csr->offset_type : IntegerType::int64)),
      fmt::arg("index", spec.addressing == Addressing::bits32 ? "unsigned int" : "long long"),
      fmt::arg("dim", spec.dim), fmt::arg("row_stride", literal(spec.row_stride)),
      fmt::arg("bag_size", literal(fixed ? fixed->size : -1)),
      fmt::arg("offsets_include_end", csr && csr->end == OffsetsEnd::included),
      fmt::arg("has_padding", spec.padding_id.has_value()),
      fmt::arg("padding_id", literal(spec.padding_id.value_or(0))),
      fmt::arg("bad_ids", name(spec.bad_ids)), fmt::arg("alignment", spec.alignment),
      fmt::arg("is_32_bit", spec.addressing == Addressing::bits32),
      fmt::arg("vector_bytes", strategy.vector_bytes),
      fmt::arg("vectors_per_lane", strategy.vectors_per_lane),
      fmt::arg("lanes_per_row", strategy.lanes_per_row), fmt::arg("bag_lanes", strategy.bag_lanes),
      fmt::arg("rows_in_flight", strategy.rows_in_flight),
      fmt::arg("block_threads", strategy.block_threads),
      fmt::arg("waits", strategy.launch_mode == LaunchMode::dependent));
}

bool is_identifier(std::string_view text) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), is_word);
}

bool has_nul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

/// Whether a line could bring in a file: strict on purpose, since what NVRTC reads besides the text
/// is not in the key.
bool may_include_files(std::string text) {
  for (auto at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n", at))
    text.erase(at, 2);
  if (text.find("__has_include") != std::string::npos) return true;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const bool is_directive =
        line.find('#') != std::string_view::npos || line.find("%:") != std::string_view::npos;
    if (is_directive && line.find("include") != std::string_view::npos) return true;
    begin = end + 1;
  }
  return false;
}

void refuse_side_effects(const std::string& option) {
  static constexpr std::array refused = {"-arch",
                                         "--gpu-architecture",
                                         "-I",
                                         "--include-path",
                                         "-include",
                                         "--pre-include",
                                         "-pch",
                                         "--pch",
                                         "-create-pch",
                                         "--create-pch",
                                         "-use-pch",
                                         "--use-pch",
                                         "-time",
                                         "--time",
                                         "-fdevice-time-trace",
                                         "--fdevice-time-trace",
                                         "-dlto",
                                         "--dlto",
                                         "-rdc",
                                         "--relocatable-device-code",
                                         "-dc",
                                         "--device-c",
                                         "--use-bundled-headers",
                                         "--optix-ir"};
  const auto begins = [&](const char* prefix) { return option.starts_with(prefix); };
  if (!option.starts_with('-') || has_nul(option) ||
      std::any_of(refused.begin(), refused.end(), begins)) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("The template option '{}' is not allowed: it reads or writes files, names an "
                    "architecture or makes something other than a kernel. Put what it "
                    "brings in into the template's text.",
                    option));
  }
}

}  // namespace

Specialisation specialise(const ForwardSpec& raw, const Strategy& strategy, const Target& target) {
  const ForwardSpec spec = validated(raw);
  validate(strategy, spec, target);
  return {.name = "embedding_bag_forward.cu",
          .source = constants_block(spec, strategy, target) +
                    with_includes(templates::find("embedding_bag_forward.cu")),
          .entry = "embedding_bag_mean",
          .target = target,
          .options = {"--std=c++17", "--device-as-default-execution-space", "--minimal"}};
}

Specialisation specialise(const KernelTemplate& kernel_template, const Target& target) {
  if (!is_identifier(kernel_template.entry)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("The template's entry is '{}'; it must be the name of an extern \"C\" "
                            "__global__ function.",
                            kernel_template.entry));
  }
  std::string source;
  for (const Constant& constant : kernel_template.constants) {
    if (!is_identifier(constant.name)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("A template constant is named '{}'; it must be a C++ identifier.",
                              constant.name));
    }
    source += fmt::format("constexpr {} {} = {};\n", constant.type, constant.name, constant.value);
  }
  for (const std::string& option : kernel_template.options) refuse_side_effects(option);
  source += kernel_template.text;
  if (has_nul(source) || has_nul(kernel_template.name)) {
    throw Error(ErrorKind::invalid_argument,
                "The template's name or text has a NUL character in it, where NVRTC would stop "
                "reading; remove it.");
  }
  if (may_include_files(source)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("The template {} has an #include or __has_include: what it reads would "
                            "not be part of the "
                            "kernel's key. Put the included text into the template.",
                            kernel_template.name));
  }
  return {.name = kernel_template.name,
          .source = source,
          .entry = kernel_template.entry,
          .target = target,
          .options = kernel_template.options};
}

}  // namespace jitbag
