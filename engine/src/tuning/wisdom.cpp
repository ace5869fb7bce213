#include "jitbag/wisdom.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <tuple>

#include "jitbag/backward.hpp"
#include "jitbag/error.hpp"
#include "jitbag/strategy.hpp"
#include "runtime/forward_request.hpp"
#include "tuning/strategy_space.hpp"

namespace jitbag {
namespace {

auto key_of(const Finding& finding) {
  return std::tie(finding.spec, finding.smallest_batch, finding.space);
}

bool is_before(const Finding& a, const Finding& b) {
  return key_of(a) < key_of(b);
}

/// Of two with the same key: whether the first one stays.
bool is_better(const Finding& a, const Finding& b) {
  if (a.date != b.date) return a.date > b.date;
  if (a.time.median_us != b.time.median_us) return a.time.median_us < b.time.median_us;
  const auto rest = [](const Finding& of) {
    return std::tie(of.strategies, of.time.p95_us, of.rule_time.median_us, of.rule_time.p95_us,
                    of.l2, of.ids, of.driver, of.nvrtc, of.jitbag, of.commit);
  };
  return rest(a) > rest(b);
}

}  // namespace

int strategy_space() noexcept {
  return current_strategy_space;
}

std::int64_t batch_class(std::optional<std::int64_t> expected_batch) {
  return smallest_batch(batch_bits(expected_batch)).value_or(0);
}

std::string why_ignored(const Finding& finding) {
  if (finding.space != strategy_space())
    return fmt::format("The strategy space is {}, and this jitbag's is {}.", finding.space,
                       strategy_space());
  const auto read = [](std::string_view text) {
    // A backward strategy begins with its method, any other with a field.
    if (text.substr(0, text.find(' ')).find('=') == std::string_view::npos)
      static_cast<void>(parse_backward_strategy(text));
    else
      static_cast<void>(parse_strategy(text));
  };
  try {
    for (const std::string& text : finding.strategies) read(text);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

bool Wisdom::add(const Finding& finding) {
  const auto place = std::ranges::lower_bound(findings_, finding, is_before);
  if (place == findings_.end() || is_before(finding, *place)) {
    findings_.insert(place, finding);
    return true;
  }
  if (!is_better(finding, *place)) return false;
  *place = finding;
  return true;
}

std::size_t Wisdom::merge(const Wisdom& other) {
  std::size_t kept = 0;
  for (const Finding& finding : other.findings_) kept += add(finding) ? 1 : 0;
  return kept;
}

const Finding* Wisdom::find(std::string_view spec,
                            std::optional<std::int64_t> expected_batch) const {
  const Finding wanted{.spec = std::string(spec), .smallest_batch = batch_class(expected_batch)};
  const auto place = std::ranges::lower_bound(findings_, wanted, is_before);
  return place != findings_.end() && key_of(*place) == key_of(wanted) ? &*place : nullptr;
}

std::size_t merge(std::vector<Wisdom>& models, const Wisdom& wisdom) {
  const auto place = std::ranges::lower_bound(models, wisdom.device(), {}, &Wisdom::device);
  const bool is_there = place != models.end() && place->device() == wisdom.device();
  Wisdom& model = is_there ? *place : *models.insert(place, Wisdom(wisdom.device()));
  return model.merge(wisdom);
}

}  // namespace jitbag
