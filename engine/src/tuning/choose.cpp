#include "tuning/choose.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "jitbag/error.hpp"
#include "runtime/forward_request.hpp"

namespace jitbag {
namespace {

/// The text of the one strategy of a kernel that has one.
const std::string& only(const std::vector<std::string>& strategies) {
  if (strategies.size() == 1) return strategies.front();
  throw Error(ErrorKind::invalid_argument,
              fmt::format("There are {} strategies for one kernel.", strategies.size()));
}

/// What `read` makes of the strategies that wisdom has for the spec, if they are valid for it.
template <class Spec, class Read>
auto from_wisdom(const Spec& spec, const Target& target, std::optional<std::int64_t> batch,
                 const Wisdom& wisdom, const cache::Warn& warn, Read&& read)
    -> std::optional<decltype(read(std::vector<std::string>{}))> {
  if (wisdom.findings().empty()) return {};
  const std::string text = to_text(spec);
  const Finding* finding = wisdom.find(text, batch);
  if (finding == nullptr) return {};
  try {
    auto strategy = read(finding->strategies);
    validate(strategy, spec, target);
    return strategy;
  } catch (const Error& error) {
    warn(fmt::format("The wisdom for \"{}\" on {} from batch {} is ignored: {}", text,
                     wisdom.device(), finding->smallest_batch, error.what()));
    return {};
  }
}

template <class Strategies>
std::vector<Strategies> in_order(std::optional<Strategies> first, Strategies rule) {
  std::vector<Strategies> all;
  if (first && *first != rule) all.push_back(std::move(*first));
  all.push_back(std::move(rule));
  return all;
}

}  // namespace

std::vector<Strategy> choose(const ForwardSpec& spec, const Target& target,
                             const ForwardChoice& choice, const Wisdom& wisdom,
                             const cache::Warn& warn) {
  if (choice.strategy) return {*choice.strategy};
  const auto batch = smallest_batch(batch_bits(choice.expected_batch));
  const auto read = [](const std::vector<std::string>& texts) {
    return parse_strategy(only(texts));
  };
  return in_order(from_wisdom(spec, target, batch, wisdom, warn, read),
                  default_strategy(spec, target, batch));
}

std::vector<BackwardStrategy> choose(const BackwardSpec& spec, const Target& target,
                                     const BackwardChoice& choice, const Wisdom& wisdom,
                                     const cache::Warn& warn) {
  if (choice.strategy) return {*choice.strategy};
  const auto batch = smallest_batch(batch_bits(choice.expected_batch));
  const BackwardStrategy rule = default_strategy(spec, target, {batch, choice.expected_top_share});
  if (choice.expected_top_share) return {rule};
  const auto read = [](const std::vector<std::string>& texts) {
    return parse_backward_strategy(only(texts));
  };
  return in_order(from_wisdom(spec, target, batch, wisdom, warn, read), rule);
}

std::vector<std::vector<Strategy>> choose(const TablesSpec& spec, const Target& target,
                                          const TablesChoice& choice, const Wisdom& wisdom,
                                          const cache::Warn& warn) {
  if (!choice.strategies.empty()) return {choice.strategies};
  const auto batch = smallest_batch(batch_bits(choice.expected_batch));
  const auto read = [](const std::vector<std::string>& texts) {
    std::vector<Strategy> strategies(texts.size());
    std::ranges::transform(texts, strategies.begin(), parse_strategy);
    return strategies;
  };
  return in_order(from_wisdom(spec, target, batch, wisdom, warn, read),
                  default_strategies(spec, target, batch));
}

}  // namespace jitbag
