#include "kernel_json.hpp"

#include "arguments.hpp"

namespace jitbag::tools {
namespace {

std::vector<std::string> texts(const JsonValue& value, const Numbers& numbers) {
  std::vector<std::string> texts;
  if (!numbers.or_none) {
    for (const std::int64_t number : whole_numbers(value, numbers.lowest, numbers.highest))
      texts.push_back(std::to_string(number));
    return texts;
  }
  for (const auto& number : optional_numbers(value, numbers.lowest, numbers.highest))
    texts.push_back(number ? std::to_string(*number) : "none");
  return texts;
}

std::vector<std::string> texts(const JsonValue& value, const KernelAxis& axis,
                               const FreeText& allowed) {
  std::vector<std::string> texts;
  for_each(value, [&](const JsonValue& item) {
    if (!item.json.is_null() && !item.json.is_string()) item.refuse("give " + allowed.form);
    const std::string text = item.json.is_null() ? "none" : item.json.get<std::string>();
    try {
      static_cast<void>(axis.setting(text));
    } catch (const UsageError&) {  // its sentence would repeat the text, which may be long or odd
      item.refuse("give " + allowed.form);
    }
    texts.push_back(text);
  });
  return texts;
}

}  // namespace

std::vector<std::string> values_of(const JsonValue& value, const KernelAxis& axis) {
  if (const auto* numbers = std::get_if<Numbers>(&axis.allowed)) return texts(value, *numbers);
  if (const auto* known = std::get_if<Words>(&axis.allowed)) return words(value, known->allowed);
  return texts(value, axis, std::get<FreeText>(axis.allowed));
}

}  // namespace jitbag::tools
