#pragma once

#include "bench/accuracy.hpp"
#include "bench/training.hpp"

namespace jitbag::tools::bench {

/// As given, else what the type of the gradient, or of the table that is stepped, allows.
[[nodiscard]] Tolerance gradient_tolerance(const Options& options, const Training& training);

/// How the gradient of the first set of ids, or the table after the step by it, compares with the
/// oracle's, and every row that has none with what it was before. An element may differ by atol +
/// rtol * the sum of what its terms are without their signs.
[[nodiscard]] Accuracy compare_gradient(const Training& training, const Workload& workload,
                                        const TrainingState& state, const Tolerance& limits);

/// How a gradient that was cleared compares with zeros.
[[nodiscard]] Accuracy compare_cleared(const Training& training, const TrainingState& state);

}  // namespace jitbag::tools::bench
