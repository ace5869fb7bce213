#include "strategy_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <map>
#include <string>

#include "arguments.hpp"

namespace jitbag::tools {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

[[noreturn]] void refuse(std::string_view text, const std::string& problem) {
  throw UsageError(
      fmt::format("the strategy '{}' {}; write it as \"{}\"", text, problem, to_text(Strategy{})));
}

Fields fields_of(std::string_view text) {
  Fields fields;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) refuse(text, fmt::format("has '{}' without a value", word));
    const std::string name = word.substr(0, equals);
    if (!fields.emplace(name, word.substr(equals + 1)).second)
      refuse(text, fmt::format("gives {} twice", name));
  }
  return fields;
}

/// Takes fields out of the text one by one, so that what is left over is unknown.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), fields_(fields_of(text)) {}

  std::string take(std::string_view name) {
    const auto field = fields_.find(name);
    if (field == fields_.end()) refuse(text_, fmt::format("lacks {}", name));
    std::string value = field->second;
    fields_.erase(field);
    return value;
  }

  int take_number(std::string_view name, std::string_view unit = "") {
    const std::string value = take(name);
    int number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc{} || std::string_view(end) != unit)
      refuse(text_, fmt::format("has {}={}, which is not a number{}{}", name, value,
                                unit.empty() ? "" : " followed by ", unit));
    return number;
  }

  LaunchMode take_launch() {
    const std::string value = take("launch");
    if (value == "plain") return LaunchMode::plain;
    if (value == "dependent") return LaunchMode::dependent;
    refuse(text_, fmt::format("has launch={}, which is neither plain nor dependent", value));
  }

  void expect_no_more() const {
    if (!fields_.empty())
      refuse(text_, fmt::format("has {}, which is not known", fields_.begin()->first));
  }

 private:
  std::string_view text_;
  Fields fields_;
};

}  // namespace

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

}  // namespace jitbag::tools
