#pragma once

#include <cstdint>

#include "host/bags.hpp"
#include "host/divisor.hpp"
#include "host/rows.hpp"
#include "host/uses.hpp"
#include "jitbag/backward.hpp"

namespace jitbag::host {

/// The gradient of the output, as each use of a row has its share of it. Sums are of type Number.
template <class Number>
class OutputGradient {
 public:
  /// All three must live as long.
  OutputGradient(const ForwardSpec& spec, const BackwardArguments& arguments,
                 const std::vector<CountedIds>& bags)
      : spec_(spec),
        bags_(bags),
        gradient_(arguments.output_gradient, spec.output_type),
        weights_(arguments.forward.weights, spec.weight_type.value_or(DataType::float32)),
        winners_(arguments.forward.winners, spec.id_type) {}

  /// Adds what the use gives its row to `sums[dim]`.
  void add(const Use& use, Number* sums) const {
    const Number weight =
        spec_.weight_type ? weights_.template read<Number>(use.position) : Number{1};
    for (std::size_t p = 0; p < spec_.pooling.size(); ++p) {
      if (spec_.pooling[p] == Pooling::max) {
        if (!use.comes_again) add_won(use, p, sums);
        continue;
      }
      add_scaled(use.unit, p, weight / divisor(spec_.pooling[p], use.unit), sums);
    }
  }

  /// Adds the gradient of one pooling, `scale` times, to `sums[dim]`.
  void add_scaled(std::int64_t unit, std::size_t pooling, Number scale, Number* sums) const {
    for (std::int64_t column = 0; column < spec_.dim; ++column) {
      sums[column] += scale * element(unit, pooling, column);
    }
  }

  /// What the pooling divides the sum of a bag by, in which something is counted.
  [[nodiscard]] Number divisor(Pooling pooling, std::int64_t unit) const {
    if (!is_sum_or_mean(pooling)) return 1;  // without pooling there are no bags to ask
    const CountedIds& counted = bags_[static_cast<std::size_t>(unit)];
    return host::divisor(spec_, pooling, counted.count, static_cast<Number>(counted.weight_sum));
  }

 private:
  [[nodiscard]] Number element(std::int64_t unit, std::size_t pooling, std::int64_t column) const {
    return gradient_.template read<Number>(unit * spec_.output_stride +
                                           static_cast<std::int64_t>(pooling) * spec_.dim + column);
  }

  /// Of a maximum a row has the columns that it won, once for each bag.
  void add_won(const Use& use, std::size_t p, Number* sums) const {
    for (std::int64_t column = 0; column < spec_.dim; ++column) {
      if (winners_[use.unit * spec_.dim + column] == use.row) {
        sums[column] += element(use.unit, p, column);
      }
    }
  }

  const ForwardSpec& spec_;
  const std::vector<CountedIds>& bags_;
  FloatArray gradient_;
  FloatArray weights_;
  Integers winners_;
};

}  // namespace jitbag::host
