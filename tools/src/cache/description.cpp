#include "cache/description.hpp"

#include <algorithm>
#include <array>

namespace jitbag::tools {
namespace {

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

/// The text of a comment that is a whole line; empty for another line.
std::string_view comment(std::string_view line) {
  return line.starts_with("// ") ? line.substr(3) : std::string_view();
}

}  // namespace

std::string_view value_of(const cache::Record& record, std::string_view name) {
  const auto field = std::ranges::find(record.fields, name, &cache::Field::name);
  return field == record.fields.end() ? std::string_view() : field->value;
}

Description describe(const cache::Record& record) {
  Description description{.spec = std::string(value_of(record, "name")),
                          .strategy = {},
                          .arch = std::string(value_of(record, "target")),
                          .compiler_build = std::string(value_of(record, "compiler_build"))};
  const std::string_view source = value_of(record, "source");
  const std::string_view title = first_line(source);
  // A generated source begins with its spec and its strategy; that of a set has one for each table.
  if (title.starts_with("// A set of ")) description.spec = comment(title);
  if (!title.starts_with("// embedding_bag")) return description;
  description.spec = comment(title);
  description.strategy =
      comment(first_line(source.substr(std::min(title.size() + 1, source.size()))));
  return description;
}

std::string_view constants_of(std::string_view source) {
  constexpr std::array starts = {"//", "struct ", "using ", "enum ", "constexpr "};
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < source.size();) {
    const std::string_view line = first_line(source.substr(begin));
    const bool belongs = line.empty() || std::ranges::any_of(starts, [&](const char* start) {
                           return line.starts_with(start);
                         });
    if (!belongs) break;
    begin = std::min(begin + line.size() + 1, source.size());
    if (line.starts_with("constexpr ")) end = begin;
  }
  return source.substr(0, end);
}

}  // namespace jitbag::tools
