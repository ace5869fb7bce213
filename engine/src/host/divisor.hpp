#pragma once

#include <cmath>
#include <cstdint>

#include "jitbag/forward_spec.hpp"

namespace jitbag::host {

/// What a pooling divides the sum of a bag by; 1 where nothing is counted.
template <class Number>
Number divisor(const ForwardSpec& spec, Pooling pooling, std::int64_t count, Number weight_sum) {
  if (count == 0) return 1;
  switch (pooling) {
    case Pooling::mean:
      return static_cast<Number>(count);
    case Pooling::mean_by_weights:
      return weight_sum;
    case Pooling::mean_by_length:
      return static_cast<Number>(spec.mean_length);
    case Pooling::mean_by_sqrt:
      return std::sqrt(static_cast<Number>(count));
    default:
      return 1;
  }
}

}  // namespace jitbag::host
