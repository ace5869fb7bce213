#pragma once

#include <cstdint>
#include <optional>

#include "jitbag/backward.hpp"

namespace jitbag {

/// The built-in rule for the kernel of the gradient of the weights, laid over the table's rows as
/// in forward.
[[nodiscard]] Strategy weight_gradient_strategy(const BackwardSpec& spec, const Target& target,
                                                std::optional<std::int64_t> expected_batch = {});

/// Throws Error(invalid_argument) that says what cannot work for this spec and target.
void validate_weight_gradient(const Strategy& strategy, const BackwardSpec& spec,
                              const Target& target);

}  // namespace jitbag
