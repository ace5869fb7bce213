#pragma once

#include <cstdint>
#include <optional>

#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"

namespace jitbag::tools {

/// The largest value of a dim, of a bag size and of a count of rows or bags: their products with
/// the size of an element stay far below 2^63.
inline constexpr std::int64_t largest_dim = std::int64_t{1} << 20;
inline constexpr std::int64_t largest_count = std::int64_t{1} << 40;
inline constexpr std::int64_t largest_batch = std::int64_t{1} << 32;

/// One kernel of the command, whatever it is compiled for.
struct KernelChoice {
  ForwardSpec spec;
  std::optional<std::int64_t> expected_batch;  ///< for the built-in rule
  std::optional<Strategy> strategy;            ///< unset: the built-in rule
};

/// The choice's spec, validated. Throws UsageError: it was said on the command line.
[[nodiscard]] ForwardSpec forward_spec(const KernelChoice& choice);

/// 32-bit addresses wherever the engine allows them.
[[nodiscard]] Addressing narrowest_addressing(std::int64_t num_rows, std::int64_t num_ids,
                                              std::int64_t output_elements);

}  // namespace jitbag::tools
