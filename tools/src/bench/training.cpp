#include "bench/training.hpp"

#include <algorithm>

#include "arguments.hpp"
#include "jitbag/error.hpp"

namespace jitbag::tools::bench {
namespace {

DataType gradient_type(const Options& options, const ForwardSpec& forward) {
  if (options.gradient_type != "table") return parse_data_type(options.gradient_type);
  return is_quantised(forward.table_type) ? DataType::float32 : forward.table_type;
}

TableGradient table_gradient(const Options& options, const ForwardSpec& forward) {
  if (options.gradient == "applied")
    return AppliedGradient{.optimizer = parse_optimizer(options.optimizer)};
  const DataType type = gradient_type(options, forward);
  if (options.gradient == "sparse") return SparseGradient{type};
  return DenseGradient{.type = type};
}

/// Random normal values.
HostBuffer random_output_gradient(const Options& options, const Workload& workload) {
  const ForwardSpec as_table =
      validated({.dim = output_width(workload.spec), .table_type = workload.spec.output_type});
  return random_table(workload.output_rows(), as_table, options.seed + 1).rows;
}

}  // namespace

DataType training_type(const BackwardSpec& gradient) {
  if (const auto* dense = std::get_if<DenseGradient>(&gradient.table_gradient)) return dense->type;
  if (const auto* sparse = std::get_if<SparseGradient>(&gradient.table_gradient))
    return sparse->type;
  return gradient.forward.table_type;
}

Training training_of(const Options& options, const Workload& workload) {
  Training training;
  try {
    training.backward =
        validated(BackwardSpec{.forward = workload.spec,
                               .table_gradient = table_gradient(options, workload.spec),
                               .deterministic = options.deterministic});
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  training.begins_from_zero = options.gradient == "dense";
  if (options.gradient == "kept") {
    training.clearing = training.backward;
    training.clearing->table_gradient =
        ClearedGradient{std::get<DenseGradient>(training.backward.table_gradient)};
  }
  training.output_gradient = random_output_gradient(options, workload);
  return training;
}

std::int64_t sparse_capacity(const Workload& workload) {
  return std::min(workload.num_ids, workload.num_rows);
}

TrainingBytes::TrainingBytes(const Training& training, const Workload& workload) {
  const ForwardSpec& spec = workload.spec;
  if (spec.winners) winners = workload.batch * spec.dim * size_of(spec.id_type);
  if (const AppliedGradient* const applied = training.applied()) {
    gradient = static_cast<std::int64_t>(workload.table->rows.size());
    const Moments moments = moments_of(applied->optimizer, spec.dim);
    first_moment = workload.num_rows * moments.first * size_of(DataType::float32);
    second_moment = workload.num_rows * moments.second * size_of(DataType::float32);
    return;
  }
  const std::int64_t gradient_rows =
      training.is_sparse() ? sparse_capacity(workload) : workload.num_rows;
  gradient = gradient_rows * spec.dim * size_of(training.type());
  if (training.is_sparse()) rows = gradient_rows * size_of(spec.id_type);
}

}  // namespace jitbag::tools::bench
