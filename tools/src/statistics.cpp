#include "statistics.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "jitbag/error.hpp"

namespace jitbag::tools {
namespace {

void refuse_nothing(std::span<const double> values) {
  if (values.empty()) {
    throw Error(ErrorKind::invalid_argument,
                "There are no values to summarise; measure at least once.");
  }
}

}  // namespace

double mean(std::span<const double> values) {
  refuse_nothing(values);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
  return percentile(values, 50);
}

double percentile(std::span<const double> values, double percent) {
  refuse_nothing(values);
  if (!(percent >= 0 && percent <= 100)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} is not a percentile; use 0 to 100.", percent));
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace jitbag::tools
