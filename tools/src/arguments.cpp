#include "arguments.hpp"

#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "jitbag/cache/cache.hpp"
#include "jitbag/error.hpp"
#include "jitbag/target.hpp"

namespace jitbag::tools {
namespace {

template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string allowed_range(std::int64_t lowest, std::int64_t highest) {
  if (highest == std::numeric_limits<std::int64_t>::max()) return fmt::format("from {} up", lowest);
  return fmt::format("from {} to {}", lowest, highest);
}

CLI::Validator check(std::function<std::string(std::string&)> answer) {
  return CLI::Validator(std::move(answer), "");
}

template <typename Value>
std::vector<Value> distinct(const std::vector<Value>& values) {
  std::vector<Value> kept;
  for (const Value& value : values) {
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
  }
  return kept;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest) {
  return check([=](std::string& text) -> std::string {
    const auto value = parse<std::int64_t>(text);
    if (value && *value >= lowest && *value <= highest) return {};
    return fmt::format("'{}' is not possible, give a whole number {}", text,
                       allowed_range(lowest, highest));
  });
}

CLI::Validator real_number(double lowest, double highest) {
  return check([=](std::string& text) -> std::string {
    const auto value = parse<double>(text);
    if (value && std::isfinite(*value) && *value >= lowest && *value <= highest) return {};
    if (highest == std::numeric_limits<double>::max())
      return fmt::format("'{}' is not possible, give a number from {} up", text, lowest);
    return fmt::format("'{}' is not possible, give a number from {} to {}", text, lowest, highest);
  });
}

CLI::Validator one_of(std::vector<std::string> names) {
  return check([names = std::move(names)](std::string& text) -> std::string {
    if (std::find(names.begin(), names.end(), text) != names.end()) return {};
    return fmt::format("'{}' is not known, choose {}", text, alternatives(names));
  });
}

CLI::Validator file_name() {
  return check([](std::string& text) -> std::string {
    return text.empty() ? "'' is no file, give a path" : "";
  });
}

CLI::Validator architecture() {
  return check([](std::string& text) -> std::string {
    try {
      static_cast<void>(parse_target(text));
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  });
}

CLI::Validator byte_count() {
  return check([](std::string& text) -> std::string {
    if (cache::parse_bytes(text)) return {};
    return fmt::format(
        "'{}' is not possible, give a whole number of bytes, or one with K, M, G or T behind it",
        text);
  });
}

CLI::Validator list_of(CLI::Validator part) {
  return check([part = std::move(part)](std::string& text) -> std::string {
    for (std::string& value : split(text, ',')) {
      if (std::string problem = part(value); !problem.empty()) return problem;
    }
    return {};
  });
}

std::vector<std::int64_t> whole_numbers(std::string_view list) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : split(list, ',')) {
    const auto value = parse<std::int64_t>(part);
    if (!value) throw UsageError(fmt::format("'{}' is not a whole number", part));
    numbers.push_back(*value);
  }
  return distinct(numbers);
}

std::vector<std::string> distinct_parts(std::string_view list) {
  return distinct(split(list, ','));
}

void refuse_beside(const CLI::App& arguments, const std::string& refused, const std::string& given,
                   const std::string& because) {
  if (arguments.count(refused) > 0)
    throw UsageError(fmt::format("{} cannot be given with {}: {}", refused, given, because));
}

void refuse_without(const CLI::App& arguments, const std::vector<const char*>& names,
                    const char* reason) {
  for (const char* name : names) {
    if (arguments.count(name) > 0) throw UsageError(fmt::format("{} {}", name, reason));
  }
}

}  // namespace jitbag::tools
