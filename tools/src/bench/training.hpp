#pragma once

#include <optional>

#include "bench/options.hpp"
#include "bench/workload.hpp"
#include "jitbag/backward.hpp"

namespace jitbag::tools::bench {

/// Of the gradient, or of the table that is stepped.
[[nodiscard]] DataType training_type(const BackwardSpec& gradient);

/// What a step of training does to a workload, beside forward.
struct Training {
  BackwardSpec backward;                 ///< validated
  bool begins_from_zero = false;         ///< all of a dense gradient is zeroed first
  std::optional<BackwardSpec> clearing;  ///< of a gradient that is kept from step to step
  HostBuffer output_gradient;            ///< random; the same content for every set of ids

  [[nodiscard]] const AppliedGradient* applied() const {
    return std::get_if<AppliedGradient>(&backward.table_gradient);
  }
  [[nodiscard]] bool is_sparse() const {
    return std::holds_alternative<SparseGradient>(backward.table_gradient);
  }
  [[nodiscard]] DataType type() const { return training_type(backward); }
};

/// Throws UsageError for a gradient that the flags ask for and the workload's spec has not.
[[nodiscard]] Training training_of(const Options& options, const Workload& workload);

/// What a step writes, on the host.
struct TrainingState {
  HostBuffer output;
  HostBuffer winners;   ///< of a maximum
  HostBuffer gradient;  ///< dense or sparse, or the table that is stepped
  HostBuffer rows;      ///< of a sparse gradient
  SparseCount count;
};

/// Bytes of all that a step writes.
struct TrainingBytes {
  TrainingBytes(const Training& training, const Workload& workload);

  std::int64_t winners = 0;
  std::int64_t gradient = 0;
  std::int64_t rows = 0;
  std::int64_t first_moment = 0;
  std::int64_t second_moment = 0;
};

/// Rows that a sparse gradient can have.
[[nodiscard]] std::int64_t sparse_capacity(const Workload& workload);

/// Every byte of the second moments before the first step, which makes them about 3/4: from 0 the
/// first step of an element would be as long for a gradient of nearly nothing as for any other.
inline constexpr std::uint8_t second_moment_byte = 0x3f;

/// The first step.
inline constexpr OptimizerParameters step_parameters{.learning_rate = 0.1f};

}  // namespace jitbag::tools::bench
