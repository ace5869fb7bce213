#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "host/bags.hpp"
#include "host/rows.hpp"
#include "jitbag/host.hpp"
#include "spec/arguments.hpp"

namespace jitbag::host {
namespace {

/// All that the counted rows of a bag are pooled from.
struct Pooled {
  explicit Pooled(std::int64_t dim)
      : sums(static_cast<std::size_t>(dim)),
        magnitudes(sums.size()),
        largest(sums.size()),
        winners(sums.size(), -1) {}

  std::int64_t count = 0;
  double weight_sum = 0;
  std::vector<double> sums;
  std::vector<double> magnitudes;  ///< sums of |weight * element|
  std::vector<double> largest;
  std::vector<std::int64_t> winners;
};

class Oracle {
 public:
  Oracle(const ForwardSpec& spec, const ForwardArguments& arguments)
      : spec_(spec),
        num_rows_(arguments.num_rows),
        bags_(spec, arguments),
        ids_(arguments.ids, spec.id_type),
        weights_(arguments.weights, spec.weight_type.value_or(DataType::float32)),
        rows_(spec, arguments) {}

  [[nodiscard]] const Bags& bags() const { return bags_; }

  [[nodiscard]] Pooled pool(const BagRange& range) const {
    Pooled pooled(spec_.dim);
    for (std::int64_t position = range.begin; position < range.end; ++position) {
      if (is_counted(position)) add(position, pooled);
    }
    return pooled;
  }

  /// Refuses a bag in the wrong place where offsets are trusted.
  void check_place(std::int64_t bag) const {
    const BagRange said = bags_.said(bag);
    if (spec_.bad_ids != BadIds::trust || !bags_.is_bad(said)) return;
    throw bad_input_error({.kind = BadInput::Kind::bag,
                           .bag = bag,
                           .position = said.begin,
                           .value = said.end,
                           .limit = bags_.num_ids()});
  }

 private:
  [[nodiscard]] bool is_counted(std::int64_t position) const {
    const std::int64_t id = ids_[position];
    if (id == spec_.padding_id) return false;
    if (id >= 0 && id < num_rows_) return true;
    if (spec_.bad_ids != BadIds::trust) return false;
    const std::int64_t bag = bags_.holder(position);
    throw bad_input_error(
        {.bag = bag, .position = position - bags_[bag].begin, .value = id, .limit = num_rows_});
  }

  void add(std::int64_t position, Pooled& pooled) const {
    const std::int64_t id = ids_[position];
    const double weight = spec_.weight_type ? weights_.read<double>(position) : 1.0;
    for (std::int64_t column = 0; column < spec_.dim; ++column) {
      const auto value = rows_.element<double>(id, column);
      double& largest = pooled.largest[column];
      pooled.sums[column] += weight * value;
      pooled.magnitudes[column] += std::abs(weight * value);
      const bool is_larger = value > largest || (std::isnan(value) && !std::isnan(largest));
      if (pooled.count == 0 || is_larger) {
        largest = value;
        pooled.winners[column] = id;
      }
    }
    pooled.weight_sum += weight;
    ++pooled.count;
  }

  const ForwardSpec& spec_;
  std::int64_t num_rows_;
  Bags bags_;
  Integers ids_;
  FloatArray weights_;
  TableRows rows_;
};

double divisor(const ForwardSpec& spec, Pooling pooling, const Pooled& pooled) {
  if (pooled.count == 0) return 1;
  switch (pooling) {
    case Pooling::mean:
      return static_cast<double>(pooled.count);
    case Pooling::mean_by_weights:
      return pooled.weight_sum;
    case Pooling::mean_by_length:
      return static_cast<double>(spec.mean_length);
    case Pooling::mean_by_sqrt:
      return std::sqrt(static_cast<double>(pooled.count));
    case Pooling::sum:
    case Pooling::max:
    case Pooling::none:
      break;
  }
  return 1;
}

/// Writes all poolings of a bag, side by side.
void write(const ForwardSpec& spec, const Pooled& pooled, double* expected, double* magnitudes) {
  std::int64_t to = 0;
  for (const Pooling pooling : spec.pooling) {
    // Kept without pooling, a row is its own maximum.
    const bool is_largest = pooling == Pooling::max || pooling == Pooling::none;
    const double by = divisor(spec, pooling, pooled);
    for (std::int64_t column = 0; column < spec.dim; ++column, ++to) {
      const double largest = pooled.largest[column];
      expected[to] = is_largest ? largest : pooled.sums[column] / by;
      if (magnitudes == nullptr) continue;
      magnitudes[to] = std::abs(is_largest ? largest : pooled.magnitudes[column] / by);
    }
  }
}

}  // namespace

void oracle(const ForwardSpec& given_spec, const ForwardArguments& arguments, double* expected,
            double* magnitudes, std::int64_t* winners) {
  const ForwardSpec spec = validated(given_spec);
  check_inputs(spec, arguments);
  const Oracle oracle(spec, arguments);
  const Bags& bags = oracle.bags();
  const auto write_row = [&](std::int64_t row, const Pooled& pooled) {
    const std::int64_t first = row * output_width(spec);
    write(spec, pooled, expected + first, magnitudes == nullptr ? nullptr : magnitudes + first);
    if (winners != nullptr && spec.winners) {
      std::copy(pooled.winners.begin(), pooled.winners.end(), winners + row * spec.dim);
    }
  };
  for (std::int64_t bag = 0; bag < bags.batch(); ++bag) oracle.check_place(bag);
  if (spec.pooling.has(Pooling::none)) {
    const BagRange all = bags.all();
    for (std::int64_t position = all.begin; position < all.end; ++position) {
      write_row(position, oracle.pool({position, position + 1}));
    }
    return;
  }
  for (std::int64_t bag = 0; bag < bags.batch(); ++bag) write_row(bag, oracle.pool(bags[bag]));
}

}  // namespace jitbag::host
