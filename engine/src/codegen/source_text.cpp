#include "codegen/source_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "kernel_templates.hpp"

namespace jitbag::codegen {
namespace {

/// Takes the first line, with its end, off the text.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(line.size());
  return line;
}

}  // namespace

std::string template_text(std::string_view name) {
  constexpr std::string_view include = "#include \"";
  std::string_view text = templates::find(name);
  std::string result;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with(include)) {
      result += template_text(line.substr(include.size(), line.rfind('"') - include.size()));
    } else {
      result += line;
    }
  }
  return result;
}

std::string_view cuda_type(DataType type, bool has_bias) {
  switch (type) {
    case DataType::float32:
      return "float";
    case DataType::float16:
      return "float16";
    case DataType::bfloat16:
      return "bfloat16";
    case DataType::float64:
      return "double";
    case DataType::int8:
      return has_bias ? "code_uint8" : "code_int8";
    case DataType::int4:
      return has_bias ? "code_uint4" : "code_int4";
    case DataType::float8_e4m3:
      return "float8_e4m3";
    case DataType::float8_e5m2:
      return "float8_e5m2";
  }
  return {};
}

std::string_view cuda_type(IntegerType type) {
  return type == IntegerType::int32 ? "int" : "long long";
}

std::string literal(std::int64_t value) {
  return value == INT64_MIN ? "(-0x7fffffffffffffffll - 1)" : fmt::format("{}ll", value);
}

std::string with_line_numbers(std::string_view source, std::string_view name) {
  std::string result;
  for (int line = 1; !source.empty(); ++line) {
    const std::string_view text = take_line(source);
    if (text == own_lines_again) {
      result += fmt::format("#line {} \"{}\"\n", line + 1, name);
    } else {
      result += text;
    }
  }
  return result;
}

}  // namespace jitbag::codegen
