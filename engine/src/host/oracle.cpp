#include <algorithm>
#include <cmath>
#include <vector>

#include "host/bags.hpp"
#include "host/floats.hpp"
#include "jitbag/host.hpp"
#include "spec/arguments.hpp"

namespace jitbag::host {
namespace {

double element(const void* table, DataType type, std::int64_t index) {
  switch (type) {
    case DataType::float32:
      return static_cast<double>(static_cast<const float*>(table)[index]);
    case DataType::float16:
      return static_cast<double>(widen_float16(static_cast<const std::uint16_t*>(table)[index]));
    case DataType::bfloat16:
      return static_cast<double>(widen_bfloat16(static_cast<const std::uint16_t*>(table)[index]));
  }
  return std::nan("");
}

/// The ids of a bag that are counted.
std::vector<std::int64_t> counted_ids(const ForwardSpec& spec, const ForwardArguments& arguments,
                                      std::int64_t bag) {
  const BagRange range = Bags(spec, arguments)[bag];
  const Integers ids(arguments.ids, spec.id_type);
  std::vector<std::int64_t> counted;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const std::int64_t id = ids[i];
    if (id == spec.padding_id) continue;
    if (id >= 0 && id < arguments.num_rows) {
      counted.push_back(id);
    } else if (spec.bad_ids == BadIds::trust) {
      throw bad_id_error({id, i - range.begin, bag}, arguments.num_rows);
    }
  }
  return counted;
}

}  // namespace

void oracle(const ForwardSpec& given_spec, const ForwardArguments& arguments, double* expected,
            double* magnitudes) {
  const ForwardSpec spec = validated(given_spec);
  check_inputs(spec, arguments);
  std::vector<double> sum(static_cast<std::size_t>(spec.dim));
  std::vector<double> magnitude(sum.size());
  for (std::int64_t bag = 0; bag < arguments.batch; ++bag) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
    const std::vector<std::int64_t> ids = counted_ids(spec, arguments, bag);
    for (const std::int64_t id : ids) {
      for (std::int64_t column = 0; column < spec.dim; ++column) {
        const double value =
            element(arguments.table, spec.table_type, id * spec.row_stride + column);
        sum[column] += value;
        magnitude[column] += std::abs(value);
      }
    }
    const double divisor = ids.empty() ? 1.0 : static_cast<double>(ids.size());
    for (std::int64_t column = 0; column < spec.dim; ++column) {
      expected[bag * spec.dim + column] = sum[column] / divisor;
      if (magnitudes != nullptr) magnitudes[bag * spec.dim + column] = magnitude[column] / divisor;
    }
  }
}

}  // namespace jitbag::host
