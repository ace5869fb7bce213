#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/options.hpp"
#include "bench/workload.hpp"
#include "jitbag/types.hpp"

namespace jitbag::tools::bench {

struct Tolerance {
  double atol = 0;
  double rtol = 0;
};
/// As given, else what the arithmetic allows: the types of table and output, and for sums the rows
/// in the longest bag.
[[nodiscard]] Tolerance tolerance(const Options& options, const ForwardSpec& spec,
                                  std::int64_t longest_bag);

/// Of elements of a type, as the error that its rounding makes of a value around 1.
[[nodiscard]] double usual_tolerance(DataType type);

/// How an output compares with the oracle's, over all its elements.
struct Accuracy {
  double max_abs_error = 0;
  double max_rel_error = 0;
  std::int64_t wrong = 0;   ///< elements with |output - expected| > atol + rtol * |expected|
  std::string first_wrong;  ///< what the first of them is, and what it should be

  /// Takes in another element, which may differ by `allowed`; whether it is the first wrong one.
  [[nodiscard]] bool add(double got, double expected, double allowed);
};

/// Element `index` of an array of a float type.
[[nodiscard]] double element(const void* array, DataType type, std::size_t index);

/// `output` holds as many elements of the type as `expected`, `width` in each row.
[[nodiscard]] Accuracy compare(const void* output, DataType type, std::span<const double> expected,
                               std::int64_t width, const Tolerance& tolerance);

}  // namespace jitbag::tools::bench
