#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/bags.hpp"
#include "host/id_rule.hpp"
#include "host/output_gradient.hpp"
#include "host/rows.hpp"
#include "host/store.hpp"
#include "jitbag/backward.hpp"

namespace jitbag::host {

/// The gradient of the weights: of a bag's weight w_i, with its row x_i, the product of x_i and
/// what the sums and means pass on of the output's gradient g. mean_by_weights, whose divisor
/// W = sum(w) depends on the weights as well, has g * (x_i - sum(w * x) / W) / W.
template <class Number>
class WeightGradient {
 public:
  /// All three must live as long.
  WeightGradient(const BackwardSpec& spec, const BackwardArguments& arguments,
                 const OutputGradient<Number>& gradient)
      : spec_(spec.forward),
        type_(*spec.weight_gradient_type),
        rule_(spec_, arguments.forward.num_rows),
        bags_(spec_, arguments.forward),
        ids_(arguments.forward.ids, spec_.id_type),
        weights_(arguments.forward.weights, *spec_.weight_type),
        rows_(spec_, arguments.forward),
        gradient_(gradient),
        out_(static_cast<std::byte*>(arguments.weight_gradient)) {}

  [[nodiscard]] std::int64_t batch() const { return bags_.batch(); }

  /// Whether an id is in two bags: then one thread must write them all.
  [[nodiscard]] bool bags_overlap() const { return bags_.overlap(); }

  /// Writes those of one bag.
  void write(std::int64_t bag) const {
    const BagRange range = bags_[bag];
    std::vector<std::int64_t> counted;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      store_float(type_, out_, i, 0);
      if (rule_.is_counted(ids_[i])) counted.push_back(i);
    }
    if (counted.empty()) return;

    const Passed passed = passed_on(bag);
    std::vector<Number> row(static_cast<std::size_t>(spec_.dim));
    std::vector<Number> own;
    Number pull = 0;  // of mean_by_weights on all weights alike
    for (const std::int64_t i : counted) {
      rows_.widen(ids_[i], spec_.dim, row.data());
      const Number by_weights = product(passed.by_weights, row);
      own.push_back(product(passed.fixed, row) + by_weights);
      pull += weights_.template read<Number>(i) * by_weights;
    }
    if (!passed.by_weights.empty()) pull /= gradient_.divisor(Pooling::mean_by_weights, bag);
    for (std::size_t k = 0; k < counted.size(); ++k) {
      store_float(type_, out_, counted[k], static_cast<double>(own[k] - pull));
    }
  }

 private:
  /// What a bag's poolings pass on of their gradients.
  struct Passed {
    std::vector<Number> fixed;       ///< with divisors that do not depend on the weights
    std::vector<Number> by_weights;  ///< empty where the spec has no mean_by_weights
  };

  [[nodiscard]] Passed passed_on(std::int64_t bag) const {
    const auto dim = static_cast<std::size_t>(spec_.dim);
    Passed passed{std::vector<Number>(dim), {}};
    for (std::size_t p = 0; p < spec_.pooling.size(); ++p) {
      const Pooling pooling = spec_.pooling[p];
      if (pooling == Pooling::max) continue;
      if (pooling == Pooling::mean_by_weights) passed.by_weights.resize(dim);
      auto& to = pooling == Pooling::mean_by_weights ? passed.by_weights : passed.fixed;
      gradient_.add_scaled(bag, p, 1 / gradient_.divisor(pooling, bag), to.data());
    }
    return passed;
  }

  static Number product(const std::vector<Number>& a, const std::vector<Number>& b) {
    Number sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  const ForwardSpec& spec_;
  DataType type_;
  IdRule rule_;
  Bags bags_;
  Integers ids_;
  FloatArray weights_;
  TableRows rows_;
  const OutputGradient<Number>& gradient_;
  std::byte* out_;
};

}  // namespace jitbag::host
