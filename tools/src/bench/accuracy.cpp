#include "bench/accuracy.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "jitbag/host.hpp"

namespace jitbag::tools::bench {
namespace {

double relative(double error, double expected) {
  // An expected 0 has no relative error; the smallest divisor keeps the figure finite.
  constexpr double smallest = 1e-12;
  return error / std::max(std::abs(expected), smallest);
}

/// Of a mean of values around 1.
double tolerance_of_mean(const ForwardSpec& spec) {
  const bool is_double = spec.table_type == DataType::float64;
  if (spec.output_type == DataType::float64 && !is_double)
    return usual_tolerance(DataType::float32);
  return usual_tolerance(spec.output_type);
}

bool divides_by_less_than_the_count(Pooling pooling) {
  return pooling == Pooling::sum || pooling == Pooling::mean_by_sqrt ||
         pooling == Pooling::mean_by_length;
}

}  // namespace

double usual_tolerance(DataType type) {
  if (type == DataType::float16) return 1e-2;
  if (type == DataType::bfloat16) return 2e-2;
  return type == DataType::float64 ? 1e-12 : 1e-5;
}

double element(const void* array, DataType type, std::size_t index) {
  const auto* bytes = static_cast<const std::byte*>(array);
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

bool Accuracy::add(double got, double expected, double allowed) {
  const double error = std::abs(got - expected);
  if (std::isnan(error)) {
    max_abs_error = max_rel_error = error;
  } else if (!std::isnan(max_abs_error)) {
    max_abs_error = std::max(max_abs_error, error);
    max_rel_error = std::max(max_rel_error, relative(error, expected));
  }
  // Written so that a NaN is wrong.
  return !(error <= allowed) && ++wrong == 1;
}

Tolerance tolerance(const Options& options, const ForwardSpec& spec, std::int64_t longest_bag) {
  const double usual = tolerance_of_mean(spec);
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
    if (accuracy.add(got, expected[i], tolerance.atol + tolerance.rtol * std::abs(expected[i])))
      accuracy.first_wrong = fmt::format("output[{}, {}] is {} where the oracle has {}",
                                         static_cast<std::int64_t>(i) / width,
                                         static_cast<std::int64_t>(i) % width, got, expected[i]);
  }
  return accuracy;
}

}  // namespace jitbag::tools::bench
