#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/target.hpp"
#include "support/forward_case.hpp"

/// Launches by hand: ids and offsets as a test writes them down, over a small table.
namespace jitbag::test {

using Integers = std::vector<std::int64_t>;

inline constexpr Target target{9, 0};
inline constexpr std::int64_t num_rows = 10;
inline const std::string nothing = "nothing";

inline constexpr std::array<Pooling, 7> poolings{Pooling::sum,
                                                 Pooling::mean,
                                                 Pooling::mean_by_weights,
                                                 Pooling::mean_by_length,
                                                 Pooling::mean_by_sqrt,
                                                 Pooling::max,
                                                 Pooling::none};

/// Sums of rows of three columns, float32 all over.
[[nodiscard]] ForwardSpec sums(const BagLayout& bags, BadIds policy = BadIds::skip);

/// The spec with another pooling and what it needs.
[[nodiscard]] ForwardSpec with_pooling(ForwardSpec spec, Pooling pooling);

/// Row r of the table is r + 1 in its first column, r + 1.5 in the second and so on; nothing
/// follows the arrays. CSR bags have offsets.
[[nodiscard]] ForwardCase case_of(const ForwardSpec& spec, std::int64_t batch, const Integers& ids,
                                  const Integers& offsets = {},
                                  const std::vector<double>& weights = {});

/// What the operator must report, as caught() has it.
[[nodiscard]] std::string expected_error(const ForwardCase& forward_case);

}  // namespace jitbag::test
