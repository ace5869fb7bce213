#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "host/oracle_ids.hpp"
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
        ids_(spec, arguments),
        weights_(arguments.weights, spec.weight_type.value_or(DataType::float32)),
        rows_(spec, arguments) {}

  [[nodiscard]] const OracleIds& ids() const { return ids_; }

  [[nodiscard]] Pooled pool(const BagRange& range) const {
    Pooled pooled(spec_.dim);
    for (std::int64_t position = range.begin; position < range.end; ++position) {
      if (ids_.is_counted(position)) add(position, pooled);
    }
    return pooled;
  }

 private:
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
  OracleIds ids_;
  FloatArray weights_;
  TableRows rows_;
};

/// Writes all poolings of a bag, side by side.
void write(const ForwardSpec& spec, const Pooled& pooled, double* expected, double* magnitudes) {
  std::int64_t to = 0;
  for (const Pooling pooling : spec.pooling) {
    // Kept without pooling, a row is its own maximum.
    const bool is_largest = pooling == Pooling::max || pooling == Pooling::none;
    const double by = oracle_divisor(spec, pooling, pooled.count, pooled.weight_sum);
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
  const Bags& bags = oracle.ids().bags();
  const auto write_row = [&](std::int64_t row, const Pooled& pooled) {
    const std::int64_t first = row * output_width(spec);
    write(spec, pooled, expected + first, magnitudes == nullptr ? nullptr : magnitudes + first);
    if (winners != nullptr && spec.winners) {
      std::copy(pooled.winners.begin(), pooled.winners.end(), winners + row * spec.dim);
    }
  };
  for (std::int64_t bag = 0; bag < bags.batch(); ++bag) oracle.ids().check_place(bag);
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
