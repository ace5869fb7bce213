#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// JSON that a person wrote: each value is read with the way to it, so that a mistake is told with
/// its place. Everything here throws UsageError.
namespace jitbag::tools {

/// Reads the text, refuses deep nesting and names that stand twice in one object. `file` is for
/// messages.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::string_view file);

/// A value with the way to it: "kernels[2].embedding_dim[1]".
struct JsonValue {
  const nlohmann::json& json;
  std::string path;  ///< empty for the whole document
  std::string_view file;

  /// "<file>: <path> is <value>; <what is allowed>".
  [[noreturn]] void refuse(std::string_view allowed) const;
  [[nodiscard]] JsonValue item(std::size_t number) const;
};

/// An object of which all names are known.
class JsonObject {
 public:
  JsonObject(JsonValue value, const std::vector<std::string>& names);
  [[nodiscard]] bool has(const std::string& name) const { return value_.json.contains(name); }
  /// Refuses the object that lacks it.
  [[nodiscard]] JsonValue at(const std::string& name) const;

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const;
  JsonValue value_;
};

/// One value, or each of a list, read by `add(value)`.
template <typename Add>
void for_each(const JsonValue& value, Add add) {
  if (!value.json.is_array()) return add(value);
  if (value.json.empty()) value.refuse("give at least one value, or leave it out");
  for (std::size_t i = 0; i < value.json.size(); ++i) add(value.item(i));
}

[[nodiscard]] std::int64_t whole_number(const JsonValue& value, std::int64_t lowest,
                                        std::int64_t highest);

/// The longest list of numbers that ranges may make.
inline constexpr std::size_t most_numbers = 1'000'000;

/// A number, a range, or a list of these. A range is {"from": 32, "to": 256, "step": 32} or
/// {"from": 1, "to": 64, "times": 2}; `to` is in it if the steps meet it.
[[nodiscard]] std::vector<std::int64_t> whole_numbers(const JsonValue& value, std::int64_t lowest,
                                                      std::int64_t highest);

/// The same, and null.
[[nodiscard]] std::vector<std::optional<std::int64_t>> optional_numbers(const JsonValue& value,
                                                                        std::int64_t lowest,
                                                                        std::int64_t highest);

/// One of the words, or a list of them. Numbers and true and false count as their text, and null as
/// "none".
[[nodiscard]] std::vector<std::string> words(const JsonValue& value,
                                             const std::vector<std::string>& allowed);

}  // namespace jitbag::tools
