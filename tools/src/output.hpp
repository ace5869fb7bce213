#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitbag::tools {

/// Keeps names in the order in which a reader wants them.
using Json = nlohmann::ordered_json;

/// Null for NaN and infinities, which JSON does not have.
[[nodiscard]] Json number(double value);
[[nodiscard]] Json number(std::optional<double> value);

/// The text or number, null when absent.
template <typename Value>
[[nodiscard]] Json maybe(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// JSON when asked for, and whenever standard output is not a terminal.
[[nodiscard]] bool wants_json(bool asked);

void print_json(const Json& document);

/// Simple columns for a person: the first row is the heading; numbers are set to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> heading);
  void add(std::vector<std::string> row);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Lines of "name  value", the values under each other.
[[nodiscard]] std::string name_value_lines(
    const std::vector<std::pair<std::string, std::string>>& lines);

/// "12.3 MB".
[[nodiscard]] std::string human_bytes(double bytes);

/// "2026-12-02T03:38:11Z".
[[nodiscard]] std::string iso_time(std::chrono::system_clock::time_point time);

/// Text on standard error. One that is closed or full is no reason to stop.
void print_error(const std::string& text);

/// One sentence on standard error, with the name of the program before it.
void say_error(std::string_view sentence);

}  // namespace jitbag::tools
