#include "bench/accuracy.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "jitbag/host.hpp"

namespace jitbag::tools::bench {
namespace {

double element(const void* output, DataType type, std::size_t index) {
  const auto* bytes = static_cast<const std::byte*>(output);
  if (type == DataType::float32) {
    float value = 0;
    std::memcpy(&value, bytes + index * sizeof value, sizeof value);
    return value;
  }
  if (type == DataType::float64) {
    double value = 0;
    std::memcpy(&value, bytes + index * sizeof value, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes + index * sizeof bits, sizeof bits);
  return type == DataType::float16 ? host::float_from_float16(bits)
                                   : host::float_from_bfloat16(bits);
}

double relative(double error, double expected) {
  // An expected 0 has no relative error; the smallest divisor keeps the figure finite.
  constexpr double smallest = 1e-12;
  return error / std::max(std::abs(expected), smallest);
}

/// Of a mean of values around 1.
double usual_tolerance(const ForwardSpec& spec) {
  if (spec.output_type == DataType::float16) return 1e-2;
  if (spec.output_type == DataType::bfloat16) return 2e-2;
  const bool is_double =
      spec.output_type == DataType::float64 && spec.table_type == DataType::float64;
  return is_double ? 1e-12 : 1e-5;
}

bool divides_by_less_than_the_count(Pooling pooling) {
  return pooling == Pooling::sum || pooling == Pooling::mean_by_sqrt ||
         pooling == Pooling::mean_by_length;
}

}  // namespace

Tolerance tolerance(const Options& options, const ForwardSpec& spec, std::int64_t longest_bag) {
  const double usual = usual_tolerance(spec);
  const double of_one_row = spec.table_type == DataType::float64 ? 1e-12 : 1e-5;
  double absolute = usual;
  if (std::any_of(spec.pooling.begin(), spec.pooling.end(), divides_by_less_than_the_count))
    absolute = std::max(usual, of_one_row * static_cast<double>(longest_bag));
  return {options.atol.value_or(absolute), options.rtol.value_or(usual)};
}

Accuracy compare(const void* output, DataType type, std::span<const double> expected,
                 std::int64_t width, const Tolerance& tolerance) {
  Accuracy accuracy;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double got = element(output, type, i);
    const double error = std::abs(got - expected[i]);
    // Written so that a NaN is wrong.
    if (!(error <= tolerance.atol + tolerance.rtol * std::abs(expected[i]))) {
      if (accuracy.wrong == 0)
        accuracy.first_wrong = fmt::format("output[{}, {}] is {} where the oracle has {}",
                                           static_cast<std::int64_t>(i) / width,
                                           static_cast<std::int64_t>(i) % width, got, expected[i]);
      ++accuracy.wrong;
    }
    if (std::isnan(error)) {
      accuracy.max_abs_error = accuracy.max_rel_error = error;
    } else if (!std::isnan(accuracy.max_abs_error)) {
      accuracy.max_abs_error = std::max(accuracy.max_abs_error, error);
      accuracy.max_rel_error = std::max(accuracy.max_rel_error, relative(error, expected[i]));
    }
  }
  return accuracy;
}

}  // namespace jitbag::tools::bench
