#include "kernel_flags.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "arguments.hpp"

namespace jitbag::tools {
namespace {

CLI::Validator number_check(const Numbers& numbers) {
  CLI::Validator number = whole_number(numbers.lowest, numbers.highest);
  if (!numbers.or_none) return number;
  return CLI::Validator(
      [number](std::string& text) -> std::string {
        if (text == "none") return {};
        const std::string problem = number(text);
        return problem.empty() ? problem : problem + ", or none";
      },
      "");
}

CLI::Validator text_check(const KernelAxis& axis) {
  return CLI::Validator(
      [&axis](std::string& text) -> std::string {
        try {
          static_cast<void>(axis.setting(text));
          return {};
        } catch (const UsageError& error) {
          return error.what();
        }
      },
      "");
}

bool may_be_list(const KernelAxis& axis) {
  const auto* text = std::get_if<FreeText>(&axis.allowed);
  return text == nullptr || !text->has_commas;
}

/// Given without a value.
bool is_switch(const KernelAxis& axis) {
  const auto* words = std::get_if<Words>(&axis.allowed);
  return words != nullptr && words->allowed == std::vector<std::string>{"false", "true"};
}

void add_flag(CLI::App& arguments, const KernelAxis& axis, std::string& value, Lists lists) {
  if (is_switch(axis)) {
    arguments.add_flag(axis.flag(), value, axis.help);
    return;
  }
  const bool is_list = lists == Lists::allowed && may_be_list(axis);
  const CLI::Validator check = value_of(axis);
  arguments.add_option(axis.flag(), value, axis.help)
      ->check(is_list ? list_of(check) : check)
      ->type_name(is_list ? "LIST" : "VALUE")
      ->default_str(value);
}

}  // namespace

KernelFlags::KernelFlags() {
  for (const KernelAxis& axis : kernel_axes()) values[axis.name] = axis.otherwise;
}

KernelFlags::KernelFlags(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) values[std::string(name)] = kernel_axis(name).otherwise;
}

CLI::Validator value_of(const KernelAxis& axis) {
  if (const auto* numbers = std::get_if<Numbers>(&axis.allowed)) return number_check(*numbers);
  if (const auto* words = std::get_if<Words>(&axis.allowed)) return one_of(words->allowed);
  return text_check(axis);
}

void add_operator_flag(CLI::App& arguments, KernelFlags& flags) {
  arguments
      .add_option("--operator", flags.operator_name,
                  "What to compute: embedding_bag, or its older name embedding_bag_mean")
      ->check(one_of({embedding_bag, embedding_bag_mean}))
      ->type_name("NAME");
}

void add_kernel_flags(CLI::App& arguments, KernelFlags& flags, Lists lists) {
  for (const KernelAxis& axis : kernel_axes()) {
    const auto value = flags.values.find(axis.name);
    if (value != flags.values.end()) add_flag(arguments, axis, value->second, lists);
  }
}

std::vector<std::string> values_of(const KernelFlags& flags, const KernelAxis& axis) {
  const auto value = flags.values.find(axis.name);
  if (value == flags.values.end() || value->second.empty()) return {};
  return may_be_list(axis) ? distinct_parts(value->second) : std::vector{value->second};
}

KernelChoice kernel_choice(const KernelFlags& flags) {
  KernelChoice choice;
  for (const auto& values :
       settings([&](const KernelAxis& axis) { return values_of(flags, axis); }))
    values.front()(choice);
  return choice;
}

std::optional<std::int64_t> parse_padding_id(const std::string& text) {
  KernelChoice choice;
  kernel_axis("padding_id").setting(text)(choice);
  return choice.spec.padding_id;
}

}  // namespace jitbag::tools
