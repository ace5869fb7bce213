#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jitbag/specialisation.hpp"
#include "jitbag/strategy.hpp"
#include "jitbag/tables.hpp"
#include "kernel_choice.hpp"

/// From what a person says to what is compiled. Every subcommand goes this way, so that a benchmark
/// finds on disk what precompile made.
namespace jitbag::tools {

/// One kernel: all that its source is made from.
struct KernelRequest {
  std::variant<ForwardSpec, TablesSpec> spec;
  std::vector<Strategy> strategies;  ///< one for each table
  Target target;
  bool operator==(const KernelRequest&) const = default;
};

/// With the choice's strategy, else the built-in rule's. Throws UsageError and Error for what can
/// never work.
[[nodiscard]] KernelRequest kernel_request(const KernelChoice& choice, const Target& target);
[[nodiscard]] KernelRequest kernel_request(const TablesSpec& tables,
                                           std::optional<std::int64_t> expected_batch,
                                           const Target& target);

[[nodiscard]] std::string spec_text(const KernelRequest& request);
/// The strategies of a set's tables, "; " between them; equal neighbours are told once, with their
/// number.
[[nodiscard]] std::string strategy_text(const KernelRequest& request);

[[nodiscard]] Specialisation specialisation(const KernelRequest& request);

}  // namespace jitbag::tools
