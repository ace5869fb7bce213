#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "jitbag/wisdom.hpp"

namespace jitbag {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "jitbag_wisdom";
constexpr int format = 1;

/// What is wrong with a part of a file, as a clause about it.
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Null where there is none.
const Json& member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

std::string text_or_nothing(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::string text(const Json& object, const char* name) {
  std::string value = text_or_nothing(object, name);
  if (value.empty()) throw Damage(fmt::format("has no {}", name));
  return value;
}

std::int64_t whole_number(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
    throw Damage(fmt::format("has no {}, a whole number", name));
  return value.get<std::int64_t>();
}

double microseconds(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number() || !(value.get<double>() > 0))
    throw Damage(fmt::format("has no {} above 0", name));
  return value.get<double>();
}

std::int64_t smallest_batch_of(const Json& object) {
  const std::int64_t batch = whole_number(object, "smallest_batch");
  if (batch != batch_class(batch))
    throw Damage(fmt::format("has a smallest_batch of {}, which is no power of two", batch));
  return batch;
}

std::vector<std::string> strategies_of(const Json& object) {
  const Json& list = member(object, "strategies");
  const auto is_text = [](const Json& strategy) { return strategy.is_string(); };
  if (!list.is_array() || list.empty() || !std::ranges::all_of(list, is_text))
    throw Damage("has no strategies, a list of texts");
  return list.get<std::vector<std::string>>();
}

/// Dates are compared as texts, so they must have one form.
std::string date_of(const Json& object) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  std::string date = text(object, "date");
  const auto fits = [](char c, char wanted) {
    return wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
  };
  if (!std::ranges::equal(date, form, fits))
    throw Damage("has no date of the form 2026-12-03T07:30:00Z");
  return date;
}

L2Cache l2_of(const Json& object) {
  const std::string state = text(object, "l2");
  if (state == "cold") return L2Cache::cold;
  if (state == "warm") return L2Cache::warm;
  throw Damage("has an l2 that is neither cold nor warm");
}

Finding finding_of(const Json& object) {
  return {
      .spec = text(object, "spec"),
      .smallest_batch = smallest_batch_of(object),
      .space = whole_number(object, "strategy_space"),
      .strategies = strategies_of(object),
      .time = {microseconds(object, "median_us"), microseconds(object, "p95_us")},
      .rule_time = {microseconds(object, "rule_median_us"), microseconds(object, "rule_p95_us")},
      .date = date_of(object),
      .l2 = l2_of(object),
      .ids = text_or_nothing(object, "ids"),
      .driver = text_or_nothing(object, "driver"),
      .nvrtc = text_or_nothing(object, "nvrtc"),
      .jitbag = text_or_nothing(object, "jitbag"),
      .commit = text_or_nothing(object, "commit")};
}

Json to_json(const Finding& finding) {
  return {{"spec", finding.spec},
          {"smallest_batch", finding.smallest_batch},
          {"strategy_space", finding.space},
          {"strategies", finding.strategies},
          {"median_us", finding.time.median_us},
          {"p95_us", finding.time.p95_us},
          {"rule_median_us", finding.rule_time.median_us},
          {"rule_p95_us", finding.rule_time.p95_us},
          {"date", finding.date},
          {"l2", finding.l2 == L2Cache::cold ? "cold" : "warm"},
          {"ids", finding.ids},
          {"driver", finding.driver},
          {"nvrtc", finding.nvrtc},
          {"jitbag", finding.jitbag},
          {"commit", finding.commit.empty() ? Json(nullptr) : Json(finding.commit)}};
}

Json to_json(const Wisdom& wisdom) {
  Json findings = Json::array();
  for (const Finding& finding : wisdom.findings()) findings.push_back(to_json(finding));
  return {{"device", wisdom.device()}, {"findings", std::move(findings)}};
}

/// Calls `use` with each member of a list, and says of which ones it cannot be used.
template <class Use>
void for_each(const Json& list, const std::string& place, WisdomText& found, Use&& use) {
  if (!list.is_array()) {
    found.problems.push_back(fmt::format("{} is missing, or no list.", place));
    return;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string here = fmt::format("{}[{}]", place, i);
    try {
      use(list[i], here);
    } catch (const Damage& damage) {
      found.problems.push_back(fmt::format("{} {}; it is ignored.", here, damage.what()));
    }
  }
}

}  // namespace

std::string to_text(std::span<const Wisdom> models) {
  Json list = Json::array();
  for (const Wisdom& wisdom : models) list.push_back(to_json(wisdom));
  const Json document = {{format_name, format}, {"models", std::move(list)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

WisdomText parse_wisdom(std::string_view text_of_file, std::string_view name) {
  WisdomText found;
  const Json document = Json::parse(text_of_file, nullptr, false);
  const Json& version = member(document, format_name);
  if (!version.is_number_integer()) {
    found.problems.push_back(fmt::format("{} is no file of wisdom; it is ignored.", name));
    return found;
  }
  if (version != format) {
    found.is_of_another_format = true;
    found.problems.push_back(
        fmt::format("{} has format {}, and this jitbag reads {}; it is ignored.", name,
                    version.dump(), format));
    return found;
  }
  for_each(member(document, "models"), fmt::format("{}: models", name), found,
           [&](const Json& object, const std::string& place) {
             Wisdom wisdom(text(object, "device"));
             for_each(
                 member(object, "findings"), place + ".findings", found,
                 [&](const Json& finding, const std::string&) { wisdom.add(finding_of(finding)); });
             merge(found.models, wisdom);
           });
  return found;
}

}  // namespace jitbag
