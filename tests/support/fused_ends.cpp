#include "fused_ends.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace jitbag::test {
namespace {

const FusedEnd scale_and_column{.element = "x * 0.5f + (float)column", .row_sum = {}};
const FusedEnd rectified{.element = "x > 0.0f ? x : 0.0f", .row_sum = {}};
const FusedEnd divided_by_squares{.element = "x / (row_sum + 1.0f)", .row_sum = "x * x"};
const FusedEnd scaled_columns{.element = "x * parameters[column]", .row_sum = {}};
const FusedEnd bag_and_count{
    .element = "x + (float)(bag % 7) + 0.25f * (float)count + 8.0f * (float)pooling",
    .row_sum = {}};

Approximate scale_and_column_of(Approximate x, std::size_t column, double unit) {
  const double value = x.value * 0.5 + static_cast<double>(column);
  return {value, 0.5 * x.error + 2 * unit * (std::abs(x.value) + static_cast<double>(column))};
}

/// The largest slope is 1, so the error stays.
Approximate rectified_of(Approximate x) {
  return {x.value > 0 ? x.value : 0, x.error};
}

Approximate scaled(Approximate x, float by, double unit) {
  const double value = x.value * static_cast<double>(by);
  return {value, x.error * std::abs(static_cast<double>(by)) + unit * std::abs(value)};
}

Approximate bag_and_count_of(Approximate x, const EndContext& context) {
  const double added = static_cast<double>(context.bag % 7) +
                       0.25 * static_cast<double>(context.count) + 8.0 * context.pooling;
  return {x.value + added, x.error + 4 * context.unit * (std::abs(x.value) + added)};
}

void divide_by_squares(std::span<Approximate> vector, double unit) {
  Approximate sum{};
  for (const Approximate& x : vector) {
    sum.value += x.value * x.value;
    sum.error += 2 * std::abs(x.value) * x.error + x.error * x.error;
  }
  sum.error += static_cast<double>(vector.size() + 2) * unit * sum.value;
  const double divisor = sum.value + 1;
  for (Approximate& x : vector) {
    const double value = x.value / divisor;
    const double relative = sum.error / divisor + 4 * unit;
    // Twice, for what is left out where the sum's error is not small.
    x = {value, 2 * (x.error / divisor + std::abs(value) * relative)};
  }
}

}  // namespace

const std::vector<FusedEnd>& known_ends() {
  static const std::vector<FusedEnd> ends{scale_and_column, rectified, divided_by_squares,
                                          scaled_columns, bag_and_count};
  return ends;
}

void apply(const FusedEnd& end, std::span<Approximate> vector, const EndContext& context) {
  if (end.empty()) return;
  if (end == divided_by_squares) return divide_by_squares(vector, context.unit);
  for (std::size_t column = 0; column < vector.size(); ++column) {
    Approximate& x = vector[column];
    if (end == scale_and_column) {
      x = scale_and_column_of(x, column, context.unit);
    } else if (end == rectified) {
      x = rectified_of(x);
    } else if (end == scaled_columns) {
      x = scaled(x, context.parameters[column], context.unit);
    } else if (end == bag_and_count) {
      x = bag_and_count_of(x, context);
    } else {
      throw std::logic_error("The tests do not know this end: " + end.element);
    }
  }
}

}  // namespace jitbag::test
