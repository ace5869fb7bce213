#include <omp.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "host/first_bad_input.hpp"
#include "host/output_gradient.hpp"
#include "host/row_sinks.hpp"
#include "host/threads.hpp"
#include "host/uses.hpp"
#include "host/weight_gradient.hpp"
#include "jitbag/host.hpp"
#include "spec/arguments.hpp"

namespace jitbag::host {
namespace {

/// Every row's gradient is summed by one thread, in the order of its uses: the same bits for any
/// number of threads.
template <class Number, class Sink>
void give_each_row(const UsesByRow& uses, const OutputGradient<Number>& gradient, std::int64_t dim,
                   int threads, const Sink& sink) {
  const auto number = static_cast<std::int64_t>(uses.rows.size());
  const int count = thread_count(threads, number);
  if (count == 0) return;
  std::vector<std::vector<Number>> sums(static_cast<std::size_t>(count),
                                        std::vector<Number>(static_cast<std::size_t>(dim)));
#pragma omp parallel for num_threads(count) schedule(dynamic, 16)
  for (std::int64_t k = 0; k < number; ++k) {
    const auto place = static_cast<std::size_t>(k);
    std::vector<Number>& sum = sums[static_cast<std::size_t>(omp_get_thread_num())];
    std::fill(sum.begin(), sum.end(), Number{0});
    for (std::size_t i = uses.begins[place]; i < uses.begins[place + 1]; ++i) {
      gradient.add(uses.all[i], sum.data());
    }
    sink(uses.rows[place], place, sum.data());
  }
}

template <class Number>
void write_weight_gradient(const WeightGradient<Number>& gradient, int threads) {
  const std::int64_t batch = gradient.batch();
  const int count = gradient.bags_overlap() ? 1 : std::max(1, thread_count(threads, batch));
#pragma omp parallel for num_threads(count) schedule(dynamic, 16)
  for (std::int64_t bag = 0; bag < batch; ++bag) gradient.write(bag);
}

void count_rows(const BackwardArguments& arguments, std::size_t found) {
  const auto rows = static_cast<std::int64_t>(found);
  arguments.count->rows = std::min(rows, arguments.capacity);
  arguments.count->missing = rows - arguments.count->rows;
}

void clear(const ForwardSpec& spec, const DenseGradient& dense, const BackwardArguments& arguments,
           const std::vector<Use>& uses) {
  const Integers winners(arguments.forward.winners, spec.id_type);
  auto* const gradient = static_cast<std::byte*>(arguments.table_gradient);
  const bool adds = std::any_of(spec.pooling.begin(), spec.pooling.end(),
                                [](Pooling pooling) { return pooling != Pooling::max; });
  for (const Use& use : uses) {
    for (std::int64_t column = 0; column < spec.dim; ++column) {
      const bool has_gradient = adds || winners[use.unit * spec.dim + column] == use.row;
      if (has_gradient) store_float(dense.type, gradient, use.row * dense.row_stride + column, 0);
    }
  }
}

template <class Number>
void compute(const BackwardSpec& spec, const BackwardArguments& arguments, int threads) {
  const ForwardSpec& forward = spec.forward;
  Uses uses(forward, arguments.forward);
  const OutputGradient<Number> gradient(forward, arguments, uses.bags);
  // Before the rows, which a step changes.
  if (spec.weight_gradient_type) {
    write_weight_gradient(WeightGradient<Number>(spec, arguments, gradient), threads);
  }
  if (std::holds_alternative<std::monostate>(spec.table_gradient)) return;
  if (const auto* cleared = std::get_if<ClearedGradient>(&spec.table_gradient)) {
    return clear(forward, cleared->of, arguments, uses.all);
  }
  const UsesByRow by_row(std::move(uses.all));
  const auto give = [&](const auto& sink) {
    give_each_row(by_row, gradient, forward.dim, threads, sink);
  };
  if (const auto* dense = std::get_if<DenseGradient>(&spec.table_gradient)) {
    give(DenseSink<Number>(spec, *dense, arguments));
  } else if (const auto* sparse = std::get_if<SparseGradient>(&spec.table_gradient)) {
    give(SparseSink<Number>(spec, *sparse, arguments));
    count_rows(arguments, by_row.rows.size());
  } else if (const auto* applied = std::get_if<AppliedGradient>(&spec.table_gradient)) {
    give(AppliedSink<Number>(spec, *applied, arguments));
  }
}

bool is_wide(const BackwardSpec& spec) {
  const auto* dense = std::get_if<DenseGradient>(&spec.table_gradient);
  const auto* sparse = std::get_if<SparseGradient>(&spec.table_gradient);
  return spec.forward.table_type == DataType::float64 ||
         spec.forward.output_type == DataType::float64 ||
         spec.weight_gradient_type == DataType::float64 ||
         (dense != nullptr && dense->type == DataType::float64) ||
         (sparse != nullptr && sparse->type == DataType::float64);
}

}  // namespace

void backward(const BackwardSpec& given_spec, const BackwardArguments& arguments, int threads) {
  const BackwardSpec spec = validated(given_spec);
  check_arguments(spec, arguments);
  if (is_wide(spec)) {
    compute<double>(spec, arguments, threads);
  } else {
    compute<float>(spec, arguments, threads);
  }
  if (spec.forward.bad_ids != BadIds::report) return;
  if (const auto bad = first_bad_input(spec.forward, arguments.forward)) {
    throw bad_input_error(*bad);
  }
}

}  // namespace jitbag::host
