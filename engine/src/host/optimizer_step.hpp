#pragma once

#include <cstdint>

#include "jitbag/optimizer.hpp"

namespace jitbag::host {

/// One row's moments; null where the optimizer keeps none.
struct RowMoments {
  float* first = nullptr;
  float* second = nullptr;
};

/// Steps the row `x[dim]` by its gradient, which is used up, in Number's arithmetic.
template <class Number>
void step(Optimizer optimizer, const OptimizerParameters& parameters, std::int64_t dim,
          Number* gradient, Number* x, const RowMoments& moments);

}  // namespace jitbag::host
