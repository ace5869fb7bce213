#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "jitbag/backward.hpp"
#include "jitbag/strategy.hpp"
#include "spec/refuse.hpp"

namespace jitbag {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

constexpr std::array methods = {std::pair{BackwardMethod::scatter, "scatter"},
                                std::pair{BackwardMethod::merge, "merge"},
                                std::pair{BackwardMethod::sort, "sort"}};

[[noreturn]] void refuse_text(std::string_view text, const std::string& problem) {
  refuse("The strategy \"{}\" {}; write it as \"{}\".", text, problem, to_text(Strategy{}));
}

/// What stands before the first space, which leaves the text.
std::string_view take_word(std::string_view& text) {
  const std::size_t length = text.find(' ');
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  return word;
}

Fields fields_of(std::string_view text) {
  Fields fields;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = take_word(rest);
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      refuse_text(text, fmt::format("has \"{}\" without a value", word));
    const std::string_view name = word.substr(0, equals);
    if (!fields.emplace(name, word.substr(equals + 1)).second)
      refuse_text(text, fmt::format("gives {} twice", name));
  }
  return fields;
}

/// Takes fields out of the text one by one, so that what is left over is unknown.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), fields_(fields_of(text)) {}

  std::string take(std::string_view name) {
    const auto field = fields_.find(name);
    if (field == fields_.end()) refuse_text(text_, fmt::format("lacks {}", name));
    std::string value = field->second;
    fields_.erase(field);
    return value;
  }

  int take_number(std::string_view name, std::string_view unit = "") {
    const std::string value = take(name);
    int number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc{} || std::string_view(end) != unit)
      refuse_text(text_, fmt::format("has {}={}, which is not a number{}{}", name, value,
                                     unit.empty() ? "" : " followed by ", unit));
    return number;
  }

  LaunchMode take_launch() {
    const std::string value = take("launch");
    if (value == "plain") return LaunchMode::plain;
    if (value == "dependent") return LaunchMode::dependent;
    refuse_text(text_, fmt::format("has launch={}, which is neither plain nor dependent", value));
  }

  void expect_no_more() const {
    if (!fields_.empty())
      refuse_text(text_, fmt::format("has {}, which is not known", fields_.begin()->first));
  }

 private:
  std::string_view text_;
  Fields fields_;
};

}  // namespace

std::string to_text(const Strategy& strategy) {
  return fmt::format(
      "vector={}B vectors={} lanes={} bag_lanes={} rows={} bags={} block={} launch={}",
      strategy.vector_bytes, strategy.vectors_per_lane, strategy.lanes_per_row, strategy.bag_lanes,
      strategy.rows_in_flight, strategy.bags_per_group, strategy.block_threads,
      strategy.launch_mode == LaunchMode::dependent ? "dependent" : "plain");
}

Strategy parse_strategy(std::string_view text) {
  Reader reader(text);
  Strategy strategy;
  strategy.vector_bytes = reader.take_number("vector", "B");
  strategy.vectors_per_lane = reader.take_number("vectors");
  strategy.lanes_per_row = reader.take_number("lanes");
  strategy.bag_lanes = reader.take_number("bag_lanes");
  strategy.rows_in_flight = reader.take_number("rows");
  strategy.bags_per_group = reader.take_number("bags");
  strategy.block_threads = reader.take_number("block");
  strategy.launch_mode = reader.take_launch();
  reader.expect_no_more();
  return strategy;
}

std::string to_text(const BackwardStrategy& strategy) {
  const auto* method =
      std::ranges::find(methods, strategy.method, &decltype(methods)::value_type::first);
  return fmt::format("{} {}", method->second, to_text(strategy.shape));
}

BackwardStrategy parse_backward_strategy(std::string_view text) {
  std::string_view shape = text;
  const std::string_view word = take_word(shape);
  for (const auto& [method, name] : methods) {
    if (word == name) return {method, parse_strategy(shape)};
  }
  refuse("The strategy \"{}\" begins with no method; write it as \"{}\".", text,
         to_text(BackwardStrategy{}));
}

}  // namespace jitbag
