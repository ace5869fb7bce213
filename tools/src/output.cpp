#include "output.hpp"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace jitbag::tools {
namespace {

bool looks_like_number(const std::string& text) {
  return text == "-" || (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0);
}

}  // namespace

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json number(std::optional<double> value) {
  return value ? number(*value) : Json(nullptr);
}

bool wants_json(bool asked) {
  return asked || isatty(STDOUT_FILENO) == 0;
}

void print_json(const Json& document) {
  // Bytes that are not UTF-8, such as a file name's, must not cost the whole report.
  fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

Table::Table(std::vector<std::string> heading) {
  rows_.push_back(std::move(heading));
}

void Table::add(std::vector<std::string> row) {
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, true);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], rows_[r][c].size());
      if (r > 0 && !looks_like_number(rows_[r][c])) numeric[c] = false;
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      line += numeric[c] ? fmt::format("{:>{}}", row[c], widths[c])
                         : fmt::format("{:<{}}", row[c], widths[c]);
      if (c + 1 < columns) line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string name_value_lines(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

std::string human_bytes(double bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string iso_time(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

void print_error(const std::string& text) {
  static_cast<void>(std::fputs(text.c_str(), stderr));
}

void say_error(std::string_view sentence) {
  print_error(fmt::format("jitbag: {}\n", sentence));
}

}  // namespace jitbag::tools
