#include <cmath>
#include <vector>

#include "host/oracle_ids.hpp"
#include "host/rows.hpp"
#include "jitbag/host.hpp"
#include "spec/arguments.hpp"

namespace jitbag::host {
namespace {

using Element = OracleGradients::Element;

void add(Element& to, double term) {
  to.value += term;
  to.magnitude += std::abs(term);
}

/// A counted id of a bag.
struct Counted {
  std::int64_t position;
  std::int64_t row;
  double weight;
};

class GradientOracle {
 public:
  GradientOracle(const BackwardSpec& spec, const BackwardArguments& arguments)
      : spec_(spec.forward),
        gives_weights_(spec.weight_gradient_type.has_value()),
        reads_gradient_(!std::holds_alternative<ClearedGradient>(spec.table_gradient)),
        ids_(spec_, arguments.forward),
        weights_(arguments.forward.weights, spec_.weight_type.value_or(DataType::float32)),
        winners_(arguments.forward.winners, spec_.id_type),
        rows_(spec_, arguments.forward),
        gradient_(arguments.output_gradient, spec_.output_type) {
    if (gives_weights_) result_.weights.resize(static_cast<std::size_t>(ids_.bags().num_ids()));
  }

  OracleGradients run() {
    if (spec_.pooling.has(Pooling::none)) {
      const BagRange all = ids_.bags().all();
      for (std::int64_t position = all.begin; position < all.end; ++position) keep(position);
      return std::move(result_);
    }
    for (std::int64_t bag = 0; bag < ids_.bags().batch(); ++bag) pool(bag);
    return std::move(result_);
  }

 private:
  [[nodiscard]] double gradient(std::int64_t row, std::int64_t column) const {
    return reads_gradient_ ? gradient_.read<double>(row * spec_.output_stride + column) : 1;
  }

  std::vector<Element>& row(std::int64_t number) {
    std::vector<Element>& row = result_.rows[number];
    row.resize(static_cast<std::size_t>(spec_.dim));
    return row;
  }

  void keep(std::int64_t position) {
    if (!ids_.is_counted(position)) return;
    std::vector<Element>& to = row(ids_[position]);
    for (std::int64_t c = 0; c < spec_.dim; ++c) add(to[c], gradient(position, c));
  }

  [[nodiscard]] std::vector<Counted> counted_of(std::int64_t bag) const {
    ids_.check_place(bag);
    std::vector<Counted> counted;
    const BagRange range = ids_.bags()[bag];
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      if (!ids_.is_counted(i)) continue;
      const bool weighted = spec_.weight_type && reads_gradient_;
      counted.push_back({i, ids_[i], weighted ? weights_.read<double>(i) : 1.0});
    }
    return counted;
  }

  void pool(std::int64_t bag) {
    const std::vector<Counted> counted = counted_of(bag);
    const BagRange range = ids_.bags()[bag];
    // Of two bags that overlap, the weights' gradient is the later one's.
    for (std::int64_t i = range.begin; gives_weights_ && i < range.end; ++i) {
      result_.weights[i] = {};
    }
    if (counted.empty()) return;
    for (const Counted& one : counted) static_cast<void>(row(one.row));
    for (std::size_t p = 0; p < spec_.pooling.size(); ++p) {
      const std::int64_t first = static_cast<std::int64_t>(p) * spec_.dim;
      if (spec_.pooling[p] == Pooling::max) {
        give_winners(bag, first);
      } else {
        give_all(spec_.pooling[p], bag, first, counted);
      }
    }
  }

  void give_winners(std::int64_t bag, std::int64_t first) {
    for (std::int64_t c = 0; c < spec_.dim; ++c) {
      const std::int64_t winner = winners_[bag * spec_.dim + c];
      if (winner < 0 || winner >= ids_.num_rows() || winner == spec_.padding_id) continue;
      add(row(winner)[c], gradient(bag, first + c));
    }
  }

  void give_all(Pooling pooling, std::int64_t bag, std::int64_t first,
                const std::vector<Counted>& counted) {
    double weight_sum = 0;
    for (const Counted& one : counted) weight_sum += one.weight;
    const double by =
        oracle_divisor(spec_, pooling, static_cast<std::int64_t>(counted.size()), weight_sum);
    for (std::int64_t c = 0; c < spec_.dim; ++c) {
      const double g = gradient(bag, first + c);
      double pooled = 0;
      double pooled_magnitude = 0;
      for (const Counted& one : counted) {
        add(row(one.row)[c], one.weight * g / by);
        if (!gives_weights_) continue;
        const double x = rows_.element<double>(one.row, c);
        pooled += one.weight * x / by;
        pooled_magnitude += std::abs(one.weight * x / by);
        add(result_.weights[one.position], x * g / by);
      }
      // The divisor depends on the weights as well.
      if (!gives_weights_ || pooling != Pooling::mean_by_weights) continue;
      for (const Counted& one : counted) {
        result_.weights[one.position].value -= pooled * g / by;
        result_.weights[one.position].magnitude += std::abs(pooled_magnitude * g / by);
      }
    }
  }

  const ForwardSpec& spec_;
  bool gives_weights_;
  bool reads_gradient_;  ///< else every element's is 1
  OracleIds ids_;
  FloatArray weights_;
  Integers winners_;
  TableRows rows_;
  FloatArray gradient_;
  OracleGradients result_;
};

}  // namespace

OracleGradients oracle_gradients(const BackwardSpec& given_spec,
                                 const BackwardArguments& arguments) {
  const BackwardSpec spec = validated(given_spec);
  check_arguments(spec, arguments);
  return GradientOracle(spec, arguments).run();
}

}  // namespace jitbag::host
