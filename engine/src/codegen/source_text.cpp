#include "codegen/source_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "kernel_templates.hpp"

namespace jitbag::codegen {
namespace {

/// Takes the first line, with its end, off the text.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(line.size());
  return line;
}

std::string with_includes(std::string_view text) {
  constexpr std::string_view include = "#include \"";
  std::string result;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with(include)) {
      const std::string_view file = line.substr(include.size(), line.rfind('"') - include.size());
      result += with_includes(templates::find(file));
    } else {
      result += line;
    }
  }
  return result;
}

}  // namespace

const std::string& template_text(std::string_view name) {
  // Kept: putting it together takes as long as all the rest of a record that is found on disk.
  static std::mutex guard;
  static std::map<std::string, std::string, std::less<>> texts;
  const std::lock_guard lock(guard);
  const auto known = texts.find(name);
  if (known != texts.end()) return known->second;
  return texts.emplace(name, with_includes(templates::find(name))).first->second;
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
  result.reserve(source.size() + source.size() / 64);
  std::ptrdiff_t lines = 0;
  for (;;) {
    const std::size_t mark = source.find(own_lines_again);
    const std::string_view own = source.substr(0, mark);
    result += own;
    if (mark == std::string_view::npos) return result;
    lines += std::count(own.begin(), own.end(), '\n') + 2;
    result += fmt::format("\n#line {} \"{}\"\n", lines + 1, name);
    source.remove_prefix(mark + own_lines_again.size());
  }
}

}  // namespace jitbag::codegen
