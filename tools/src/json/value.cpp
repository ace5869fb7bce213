#include "json/value.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "arguments.hpp"

namespace jitbag::tools {
namespace {

constexpr std::int64_t highest_of_all = std::numeric_limits<std::int64_t>::max();

/// The value as a person wrote it, cut to what fits in a sentence.
std::string shown(const nlohmann::json& json) {
  constexpr std::size_t longest = 60;
  const std::string text = json.dump(-1, ' ', true);
  return text.size() <= longest ? text : text.substr(0, longest) + "…";
}

std::string place(const std::string& path) {
  return path.empty() ? "the file" : path;
}

bool is_between(const nlohmann::json& json, std::int64_t lowest, std::int64_t highest) {
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{highest_of_all})
    return false;
  const auto number = json.get<std::int64_t>();
  return number >= lowest && number <= highest;
}

std::string word_of(const nlohmann::json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_null()) return "none";
  return json.is_number_integer() || json.is_boolean() ? json.dump() : std::string();
}

[[noreturn]] void refuse_length(const JsonValue& value) {
  value.refuse(fmt::format("with it the list has more than {} numbers", most_numbers));
}

/// {"from": 32, "to": 256, "step": 32} or {"from": 1, "to": 64, "times": 2}; `to` is included if
/// the steps meet it.
void add_range(const JsonValue& value, std::int64_t lowest, std::int64_t highest,
               std::vector<std::int64_t>& numbers) {
  const JsonObject range(value, {"from", "to", "step", "times"});
  const std::int64_t from = whole_number(range.at("from"), lowest, highest);
  const std::int64_t to = whole_number(range.at("to"), lowest, highest);
  const bool multiplies = range.has("times");
  if (multiplies == range.has("step"))
    value.refuse("give either step, which is added, or times, which is multiplied by");
  if (from > to) value.refuse("give a from that is not above to");
  if (multiplies && from < 1) value.refuse("give a from of at least 1, or a step");
  const std::int64_t by = multiplies ? whole_number(range.at("times"), 2, highest_of_all)
                                     : whole_number(range.at("step"), 1, highest_of_all);
  std::int64_t number = from;
  while (true) {
    if (numbers.size() >= most_numbers) refuse_length(value);
    numbers.push_back(number);
    const bool is_next_in_range =
        multiplies ? number <= to / by
                   : static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(number) >=
                         static_cast<std::uint64_t>(by);
    if (!is_next_in_range) return;
    number = multiplies ? number * by : number + by;
  }
}

}  // namespace

void JsonValue::refuse(std::string_view allowed) const {
  throw UsageError(fmt::format("{}: {} is {}; {}", file, place(path), shown(json), allowed));
}

JsonValue JsonValue::item(std::size_t number) const {
  return {json[number], fmt::format("{}[{}]", path, number), file};
}

JsonObject::JsonObject(JsonValue value, const std::vector<std::string>& names)
    : value_(std::move(value)) {
  if (!value_.json.is_object()) value_.refuse("give an object, in braces");
  for (const auto& [name, member] : value_.json.items()) {
    if (std::ranges::find(names, name) == names.end())
      throw UsageError(fmt::format("{}: {} has {}, which is not known; choose {}", value_.file,
                                   place(value_.path), shown(name), alternatives(names)));
  }
}

JsonValue JsonObject::at(const std::string& name) const {
  const auto member = value_.json.find(name);
  if (member == value_.json.end())
    throw UsageError(fmt::format("{}: {} is missing", value_.file, path_of(name)));
  return {*member, path_of(name), value_.file};
}

std::string JsonObject::path_of(const std::string& name) const {
  return value_.path.empty() ? name : value_.path + "." + name;
}

std::int64_t whole_number(const JsonValue& value, std::int64_t lowest, std::int64_t highest) {
  if (!is_between(value.json, lowest, highest))
    value.refuse(fmt::format("give a whole number from {} to {}", lowest, highest));
  return value.json.get<std::int64_t>();
}

std::vector<std::int64_t> whole_numbers(const JsonValue& value, std::int64_t lowest,
                                        std::int64_t highest) {
  std::vector<std::int64_t> numbers;
  for_each(value, [&](const JsonValue& item) {
    if (item.json.is_object())
      add_range(item, lowest, highest, numbers);
    else
      numbers.push_back(whole_number(item, lowest, highest));
  });
  return numbers;
}

/// Numbers, ranges and null.
std::vector<std::optional<std::int64_t>> optional_numbers(const JsonValue& value,
                                                          std::int64_t lowest,
                                                          std::int64_t highest) {
  std::vector<std::optional<std::int64_t>> numbers;
  for_each(value, [&](const JsonValue& item) {
    if (item.json.is_null()) return numbers.emplace_back(std::nullopt), void();
    if (!item.json.is_number() && !item.json.is_object())
      item.refuse("give a whole number, a range or null");
    for (const std::int64_t number : whole_numbers(item, lowest, highest))
      numbers.emplace_back(number);
    if (numbers.size() > most_numbers) refuse_length(item);
  });
  return numbers;
}

std::vector<std::string> words(const JsonValue& value, const std::vector<std::string>& allowed) {
  std::vector<std::string> words;
  for_each(value, [&](const JsonValue& item) {
    std::string word = word_of(item.json);
    if (std::ranges::find(allowed, word) == allowed.end())
      item.refuse("choose " + alternatives(allowed));
    words.push_back(std::move(word));
  });
  return words;
}

}  // namespace jitbag::tools
