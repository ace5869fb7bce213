#include <algorithm>
#include <limits>

#include "host/row_quantiser.hpp"
#include "host/threads.hpp"
#include "jitbag/host.hpp"
#include "spec/arguments.hpp"
#include "spec/quantiser_spec.hpp"
#include "spec/refuse.hpp"

namespace jitbag::host {

void quantise(const ForwardSpec& given_spec, const QuantiseArguments& arguments, int threads) {
  const ForwardSpec spec = quantiser_spec(given_spec);
  check_arguments(spec, arguments);
  const std::int64_t num_rows = arguments.num_rows;
  const int count = thread_count(threads, num_rows);
  if (num_rows == 0 || spec.dim == 0) return;

  const RowQuantiser quantiser(spec, arguments);
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t bad_row = none;
#pragma omp parallel for num_threads(count) reduction(min : bad_row)
  for (std::int64_t row = 0; row < num_rows; ++row) {
    if (!quantiser.quantise(row)) bad_row = std::min(bad_row, row);
  }
  if (bad_row != none) {
    refuse("Row {} has a NaN or an infinite value, which no code stands for; correct the values.",
           bad_row);
  }
}

}  // namespace jitbag::host
