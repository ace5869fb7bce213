#pragma once

#include <vector>

#include "jitbag/backward.hpp"
#include "jitbag/cache/warn.hpp"
#include "jitbag/engine.hpp"
#include "jitbag/strategy.hpp"
#include "jitbag/tables.hpp"
#include "jitbag/wisdom.hpp"

namespace jitbag {

/// The strategies for a validated spec, in the order in which they are to be tried: the caller's
/// alone; else wisdom's, where it is valid for spec and target, and then that of the built-in rule.
/// `warn` is told why wisdom is not used that is there.
[[nodiscard]] std::vector<Strategy> choose(const ForwardSpec& spec, const Target& target,
                                           const ForwardChoice& choice, const Wisdom& wisdom,
                                           const cache::Warn& warn);

/// The same; ids of which the caller knows how they repeat are none that wisdom knows.
[[nodiscard]] std::vector<BackwardStrategy> choose(const BackwardSpec& spec, const Target& target,
                                                   const BackwardChoice& choice,
                                                   const Wisdom& wisdom, const cache::Warn& warn);

/// The same; a set is measured as a whole, and has one strategy for each table.
[[nodiscard]] std::vector<std::vector<Strategy>> choose(const TablesSpec& spec,
                                                        const Target& target,
                                                        const TablesChoice& choice,
                                                        const Wisdom& wisdom,
                                                        const cache::Warn& warn);

}  // namespace jitbag
