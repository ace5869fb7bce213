#include "kernel_request.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>

namespace jitbag::tools {
namespace {

/// As the engine plans: of a batch only the power of two counts.
std::optional<std::int64_t> planned_batch(const std::optional<std::int64_t>& expected) {
  if (!expected) return std::nullopt;
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*expected)));
}

}  // namespace

KernelRequest kernel_request(const KernelChoice& choice, const Target& target) {
  const ForwardSpec spec = forward_spec(choice);
  const Strategy strategy =
      choice.strategy ? *choice.strategy
                      : default_strategy(spec, target, planned_batch(choice.expected_batch));
  validate(strategy, spec, target);
  return {spec, {strategy}, target};
}

KernelRequest kernel_request(const TablesSpec& tables, std::optional<std::int64_t> expected_batch,
                             const Target& target) {
  const TablesSpec spec = validated(tables);
  return {spec, default_strategies(spec, target, planned_batch(expected_batch)), target};
}

std::string spec_text(const KernelRequest& request) {
  return std::visit([](const auto& spec) { return to_text(spec); }, request.spec);
}

std::string strategy_text(const KernelRequest& request) {
  const std::vector<Strategy>& all = request.strategies;
  std::string text;
  for (auto one = all.begin(); one != all.end();) {
    const auto next = std::find_if(one, all.end(), [&](const Strategy& s) { return s != *one; });
    if (!text.empty()) text += "; ";
    if (next - one > 1) text += fmt::format("{} tables ", next - one);
    text += to_text(*one);
    one = next;
  }
  return text;
}

Specialisation specialisation(const KernelRequest& request) {
  if (const auto* tables = std::get_if<TablesSpec>(&request.spec))
    return specialise(*tables, request.strategies, request.target);
  return specialise(std::get<ForwardSpec>(request.spec), request.strategies.front(),
                    request.target);
}

}  // namespace jitbag::tools
