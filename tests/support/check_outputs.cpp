#include "check_outputs.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bags.hpp"
#include "elements.hpp"
#include "fused_ends.hpp"
#include "jitbag/host.hpp"
#include "placed_array.hpp"
#include "table_rows.hpp"

namespace jitbag::test {
namespace {

/// A NaN that no arithmetic makes: what the oracle leaves as it is.
constexpr auto untouched_bits = std::uint64_t{0x7ff8'dead'beef'0001};

bool is_untouched(double value) {
  return std::bit_cast<std::uint64_t>(value) == untouched_bits;
}

/// What errors follow from, of one bag (without pooling, of one position).
struct BagSums {
  std::int64_t ids = 0;
  std::int64_t counted = 0;
  double weights = 0;
  double terms = 0;         ///< sum of |weight| * largest term of the row
  double largest_term = 0;  ///< of a row
};

bool agree(double actual, const Approximate& expected) {
  if (std::isnan(expected.value)) return std::isnan(actual);
  if (std::isinf(expected.value)) return actual == expected.value;
  return std::abs(actual - expected.value) <= expected.error;
}

class OutputCheck {
 public:
  OutputCheck(const ForwardSpec& spec, const ForwardArguments& arguments)
      : spec_(spec),
        arguments_(arguments),
        bags_(spec, arguments),
        rows_(spec, arguments.table, arguments.scales),
        unit_(spec.table_type == DataType::float64 ? 0x1p-53 : 0x1p-24),
        width_(output_width(spec)),
        output_rows_(output_rows(spec, arguments)),
        expected_(static_cast<std::size_t>(output_rows_ * width_),
                  std::bit_cast<double>(untouched_bits)),
        magnitudes_(expected_.size()),
        winners_(spec.winners ? static_cast<std::size_t>(arguments.batch * spec.dim) : 0) {
    for (std::int64_t row = 0; row < arguments.num_rows; ++row) {
      largest_terms_.push_back(rows_.largest_term(row));
    }
    ForwardSpec without_end = spec;
    without_end.end = {};
    host::oracle(without_end, arguments, expected_.data(), magnitudes_.data(),
                 spec.winners ? winners_.data() : nullptr);
  }

  [[nodiscard]] std::string problem() const {
    for (std::int64_t row = 0; row < output_rows_; ++row) {
      std::string found = problem_in_row(row);
      if (found.empty() && spec_.winners) found = problem_in_winners(row);
      if (!found.empty()) return found;
    }
    return {};
  }

 private:
  const std::byte* output_row(std::int64_t row) const {
    return static_cast<const std::byte*>(arguments_.output) +
           row * spec_.output_stride * size_of(spec_.output_type);
  }

  std::span<const double> expected_row(std::int64_t row) const {
    return std::span(expected_).subspan(static_cast<std::size_t>(row * width_),
                                        static_cast<std::size_t>(width_));
  }

  bool row_is_untouched(std::int64_t row) const {
    const auto expected = expected_row(row);
    return !expected.empty() && is_untouched(expected.front());
  }

  std::string problem_in_row(std::int64_t row) const {
    const auto bytes = static_cast<std::size_t>(size_of(spec_.output_type));
    const bool is_last = row + 1 == output_rows_;
    const auto width = static_cast<std::size_t>(width_);
    const auto stride = is_last ? width : static_cast<std::size_t>(spec_.output_stride);
    if (!is_poison({output_row(row) + width * bytes, (stride - width) * bytes})) {
      return fmt::format("The gap after row {} of the output was written to.", row);
    }
    if (row_is_untouched(row)) {
      const bool is_left = is_poison({output_row(row), width * bytes});
      return is_left ? "" : fmt::format("Row {} of the output was written to.", row);
    }
    const BagSums sums = sums_of(row);
    for (std::size_t p = 0; p < spec_.pooling.size(); ++p) {
      std::string found = problem_in_vector(row, p, sums);
      if (!found.empty()) return found;
    }
    return {};
  }

  std::string problem_in_vector(std::int64_t row, std::size_t p, const BagSums& sums) const {
    const auto first = static_cast<std::int64_t>(p) * spec_.dim;
    std::vector<Approximate> expected(static_cast<std::size_t>(spec_.dim));
    for (std::int64_t column = 0; column < spec_.dim; ++column) {
      const auto element = static_cast<std::size_t>(row * width_ + first + column);
      expected[column] = {expected_[element],
                          error(spec_.pooling[p], sums, expected_[element], magnitudes_[element])};
    }
    apply(spec_.end, expected,
          {.bag = row,
           .count = sums.counted,
           .pooling = static_cast<int>(p),
           .parameters = arguments_.end_parameters,
           .unit = unit_});
    for (std::int64_t column = 0; column < spec_.dim; ++column) {
      const double actual = load_element(
          output_row(row) + (first + column) * size_of(spec_.output_type), spec_.output_type);
      const Approximate rounded = as_stored(expected[column]);
      if (agree(actual, rounded)) continue;
      return fmt::format("Row {} of the output, {}, column {}, is {} instead of {} +- {} ({} ids).",
                         row, name(spec_.pooling[p]), column, actual, rounded.value, rounded.error,
                         sums.ids);
    }
    return {};
  }

  Approximate as_stored(Approximate x) const {
    const double reach = std::abs(x.value) + x.error;
    return {x.value, x.error + half_ulp(spec_.output_type, reach)};
  }

  void add(BagSums& sums, std::int64_t position) const {
    ++sums.ids;
    if (!bags_.is_counted(position)) return;
    const double term = largest_terms_[bags_.id(position)];
    const double weight = bags_.weight(position);
    ++sums.counted;
    sums.weights += weight;
    sums.terms += std::abs(weight) * term;
    sums.largest_term = std::max(sums.largest_term, term);
  }

  BagSums sums_of(std::int64_t row) const {
    BagSums sums;
    if (spec_.pooling.has(Pooling::none)) {
      add(sums, row);
      return sums;
    }
    const Positions positions = bags_.bag(row);
    for (std::int64_t i = positions.begin; i < positions.end; ++i) add(sums, i);
    return sums;
  }

  double divisor(Pooling pooling, const BagSums& sums) const {
    switch (pooling) {
      case Pooling::mean:
        return static_cast<double>(sums.counted);
      case Pooling::mean_by_weights:
        return sums.weights;
      case Pooling::mean_by_length:
        return static_cast<double>(spec_.mean_length);
      case Pooling::mean_by_sqrt:
        return std::sqrt(static_cast<double>(sums.counted));
      default:
        return 1;
    }
  }

  /// A product and a sum make an element from its code: two roundings, of no more than the largest
  /// term each.
  double dequantisation(double term) const { return 2 * unit_ * term; }

  /// How far a right result may be from the exact one, before the end. A sum of n products: each
  /// product is rounded, perhaps its weight as well, and then at most n - 1 additions. Division by
  /// a count, a square root or a sum of n weights: approximate root and reciprocal, a rounding.
  double error(Pooling pooling, const BagSums& sums, double expected, double magnitude) const {
    if (sums.counted == 0) return 0;
    if (pooling == Pooling::max || pooling == Pooling::none) {
      return dequantisation(sums.largest_term);
    }
    const auto n = static_cast<double>(sums.ids);
    const double divided_by = std::abs(divisor(pooling, sums));
    const double summation = (n + 2) * unit_ * (magnitude + sums.terms / divided_by);
    const double dequantised = dequantisation(sums.terms) / divided_by;
    if (pooling == Pooling::sum) return summation + dequantised;
    const double weights = pooling == Pooling::mean_by_weights ? n * unit_ : 0;
    return summation + dequantised + (6 * unit_ + weights) * std::abs(expected);
  }

  /// Winners must be those of the oracle, but for elements nearer to each other than the errors of
  /// dequantisation.
  std::string problem_in_winners(std::int64_t bag) const {
    if (row_is_untouched(bag)) return untouched_winners(bag);
    const double slack = 2 * dequantisation(sums_of(bag).largest_term);
    for (std::int64_t column = 0; column < spec_.dim; ++column) {
      const auto element = bag * spec_.dim + column;
      const std::int64_t actual = load_integer(winners_at(element), spec_.id_type);
      const std::int64_t expected = winners_[element];
      if (actual == expected || (slack > 0 && is_as_large(bag, actual, expected, column, slack))) {
        continue;
      }
      return fmt::format("The winner of bag {} column {} is {} instead of {}.", bag, column, actual,
                         expected);
    }
    return {};
  }

  const std::byte* winners_at(std::int64_t element) const {
    return static_cast<const std::byte*>(arguments_.winners) + element * size_of(spec_.id_type);
  }

  std::string untouched_winners(std::int64_t bag) const {
    const auto bytes = static_cast<std::size_t>(spec_.dim * size_of(spec_.id_type));
    if (is_poison({winners_at(bag * spec_.dim), bytes})) return {};
    return fmt::format("The winners of bag {} were written.", bag);
  }

  bool is_as_large(std::int64_t bag, std::int64_t id, std::int64_t expected, std::int64_t column,
                   double slack) const {
    const Positions positions = bags_.bag(bag);
    for (std::int64_t i = positions.begin; i < positions.end; ++i) {
      if (bags_.id(i) != id || !bags_.is_counted(i) || expected < 0) continue;
      return rows_.value(id, column) >= rows_.value(expected, column) - slack;
    }
    return false;
  }

  ForwardSpec spec_;
  ForwardArguments arguments_;
  Bags bags_;
  TableRows rows_;
  double unit_;
  std::int64_t width_;
  std::int64_t output_rows_;
  std::vector<double> expected_;
  std::vector<double> magnitudes_;
  std::vector<std::int64_t> winners_;
  std::vector<double> largest_terms_;
};

}  // namespace

std::string check_outputs(const ForwardSpec& validated_spec, const ForwardArguments& arguments) {
  return OutputCheck(validated_spec, arguments).problem();
}

}  // namespace jitbag::test
