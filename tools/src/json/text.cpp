#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <set>

#include "arguments.hpp"
#include "json/value.hpp"

namespace jitbag::tools {
namespace {

using Document = nlohmann::json;
using Event = Document::parse_event_t;

/// A manifest nests eight deep where it is deepest.
constexpr int deepest = 16;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 where there is none
  return fmt::format("line {}, column {}", line, before.size() - line_begin + 1);
}

/// Refuses what the parser would take without a word.
class Watch {
 public:
  explicit Watch(std::string_view file) : file_(file) {}

  void see(int depth, Event event, const Document& parsed) {
    if (depth > deepest)
      throw UsageError(
          fmt::format("{}: lists and objects are nested over {} deep; nothing here needs that",
                      file_, deepest));
    if (event == Event::object_start) names_.emplace_back();
    if (event == Event::object_end) names_.pop_back();
    if (event == Event::key && !names_.back().insert(parsed.get<std::string>()).second)
      throw UsageError(fmt::format("{}: {} stands twice in one object; give it once, with a list",
                                   file_, parsed.dump()));
  }

 private:
  std::string_view file_;
  std::vector<std::set<std::string>> names_;
};

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view file) {
  Watch watch(file);
  try {
    return Document::parse(text, [&](int depth, Event event, const Document& parsed) {
      watch.see(depth, event, parsed);
      return true;
    });
  } catch (const Document::parse_error& error) {
    throw UsageError(
        fmt::format("{}: it is not JSON from {} on; see that brackets, quotes and commas are right",
                    file, line_and_column(text, error.byte)));
  } catch (const Document::exception&) {
    throw UsageError(fmt::format("{}: it has a number that is too large; the largest is {}", file,
                                 std::numeric_limits<std::int64_t>::max()));
  }
}

}  // namespace jitbag::tools
