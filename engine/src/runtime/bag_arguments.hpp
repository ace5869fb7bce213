#pragma once

#include "bag_arguments.cuh"
#include "jitbag/kernel.hpp"

namespace jitbag {

/// The arguments as the kernels take them.
[[nodiscard]] inline BagArguments bag_arguments(const ForwardArguments& arguments) {
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  return {.table = arguments.table,
          .scales = arguments.scales,
          .ids = arguments.ids,
          .offsets = arguments.offsets,
          .weights = arguments.weights,
          .output = arguments.output,
          .winners = arguments.winners,
          .counts = reinterpret_cast<const long long*>(arguments.counts),
          .end_parameters = arguments.end_parameters,
          .num_rows = arguments.num_rows,
          .num_ids = arguments.num_ids,
          .batch = arguments.batch};
}

}  // namespace jitbag
