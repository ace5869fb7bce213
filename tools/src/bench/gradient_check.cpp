#include "bench/gradient_check.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "bench/expected_step.hpp"
#include "jitbag/host.hpp"

namespace jitbag::tools::bench {
namespace {

using Element = host::OracleGradients::Element;
using Row = std::vector<Element>;
using Rows = std::map<std::int64_t, Row>;

Rows oracle_rows(const Training& training, const Workload& workload, const TrainingState& state) {
  BackwardArguments arguments;
  arguments.forward = workload.arguments(0, state.output.data());
  arguments.forward.winners = state.winners.data();
  arguments.output_gradient = training.output_gradient.data();
  // Every kind has the same rows. The oracle writes nothing, and this one needs the least memory.
  BackwardSpec spec = training.backward;
  spec.table_gradient = SparseGradient{};
  SparseCount count;
  arguments.count = &count;
  return host::oracle_gradients(spec, arguments).rows;
}

/// One comparison of all rows.
class Comparison {
 public:
  Comparison(const Training& training, const TrainingState& state, const Tolerance& limits)
      : state_(state), type_(training.type()), limits_(limits) {}

  /// Of a row whose elements begin at `first`.
  void add(std::int64_t row, std::int64_t first, const Row& expected) {
    for (std::size_t c = 0; c < expected.size(); ++c) {
      const Element& one = expected[c];
      const double got =
          element(state_.gradient.data(), type_, static_cast<std::size_t>(first) + c);
      const double size = std::max(one.magnitude, std::abs(one.value));
      if (accuracy_.add(got, one.value, limits_.atol + limits_.rtol * size))
        accuracy_.first_wrong =
            fmt::format("row {} column {} is {} where the oracle has {}", row, c, got, one.value);
    }
  }

  /// Something that is wrong and no element.
  void add_wrong(const std::string& what) {
    if (++accuracy_.wrong == 1) accuracy_.first_wrong = what;
  }

  [[nodiscard]] const Accuracy& accuracy() const { return accuracy_; }

 private:
  const TrainingState& state_;
  DataType type_;
  Tolerance limits_;
  Accuracy accuracy_;
};

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte one) { return one == std::byte{0}; });
}

std::span<const std::byte> row_of(const HostBuffer& rows, std::int64_t row, std::int64_t bytes) {
  return {rows.data() + row * bytes, static_cast<std::size_t>(bytes)};
}

void compare_dense(Comparison& comparison, const Training& training, const Workload& workload,
                   const TrainingState& state, const Rows& expected) {
  const std::int64_t dim = workload.spec.dim;
  const std::int64_t bytes = dim * size_of(training.type());
  for (std::int64_t row = 0; row < workload.num_rows; ++row) {
    const auto found = expected.find(row);
    if (found != expected.end())
      comparison.add(row, row * dim, found->second);
    else if (!is_zero(row_of(state.gradient, row, bytes)))
      comparison.add_wrong(fmt::format("row {} has a gradient, and no id names it", row));
  }
}

void compare_sparse(Comparison& comparison, const Workload& workload, const TrainingState& state,
                    const Rows& expected) {
  if (state.count.rows != static_cast<std::int64_t>(expected.size()) || state.count.missing != 0)
    return comparison.add_wrong(
        fmt::format("there are {} rows and {} too many where the oracle has {}", state.count.rows,
                    state.count.missing, expected.size()));
  std::int64_t place = 0;
  for (const auto& [row, elements] : expected) {
    const std::int64_t found = integer_at(state.rows, workload.spec.id_type, place);
    if (found != row)
      comparison.add_wrong(
          fmt::format("row {} is in place {} where the oracle has row {}", found, place, row));
    comparison.add(row, place * workload.spec.dim, elements);
    ++place;
  }
}

void compare_applied(Comparison& comparison, const Training& training, const Workload& workload,
                     const TrainingState& state, const Rows& expected) {
  const std::int64_t bytes = row_stride_bytes(workload.spec);
  const std::int64_t stride = bytes / size_of(training.type());
  const std::byte* const table = workload.table->rows.data();
  for (std::int64_t row = 0; row < workload.num_rows; ++row) {
    const auto found = expected.find(row);
    if (found != expected.end()) {
      Row before(found->second.size());
      for (std::size_t c = 0; c < before.size(); ++c)
        before[c].value =
            element(table, training.type(), static_cast<std::size_t>(row * stride) + c);
      comparison.add(row, row * stride,
                     expected_step(training.applied()->optimizer, before, found->second));
    } else if (!std::ranges::equal(row_of(state.gradient, row, bytes),
                                   row_of(workload.table->rows, row, bytes))) {
      comparison.add_wrong(fmt::format("row {} has changed, and no id names it", row));
    }
  }
}

}  // namespace

Tolerance gradient_tolerance(const Options& options, const Training& training) {
  const double usual = usual_tolerance(training.type());
  return {options.atol.value_or(usual), options.rtol.value_or(usual)};
}

Accuracy compare_gradient(const Training& training, const Workload& workload,
                          const TrainingState& state, const Tolerance& limits) {
  const Rows expected = oracle_rows(training, workload, state);
  Comparison comparison(training, state, limits);
  if (training.applied() != nullptr)
    compare_applied(comparison, training, workload, state, expected);
  else if (training.is_sparse())
    compare_sparse(comparison, workload, state, expected);
  else
    compare_dense(comparison, training, workload, state, expected);
  return comparison.accuracy();
}

Accuracy compare_cleared(const Training& training, const TrainingState& state) {
  Comparison comparison(training, state, {});
  if (!is_zero({state.gradient.data(), state.gradient.size()}))
    comparison.add_wrong("the gradient has elements that are not 0 after it was cleared");
  return comparison.accuracy();
}

}  // namespace jitbag::tools::bench
