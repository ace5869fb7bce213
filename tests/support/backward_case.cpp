#include "backward_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "elements.hpp"
#include "host/bags.hpp"
#include "jitbag/error.hpp"
#include "spec/arguments.hpp"
#include "spec/gradient_table.hpp"
#include "weight_gradient_check.hpp"

namespace jitbag::test {
namespace {

template <class Gradient>
const Gradient* as(const BackwardSpec& spec) {
  return std::get_if<Gradient>(&spec.table_gradient);
}

DenseGradient scattered(const MatrixKernel& forward) {
  DenseGradient dense;
  dense.type = forward.seed % 4 == 0 ? DataType::float64 : DataType::float32;
  dense.row_stride = forward.seed % 3 == 0 ? forward.spec.dim + 4 : 0;
  dense.alignment = forward.seed % 5 == 0 ? 0 : 16;
  return dense;
}

TableGradient sorted_gradient(const MatrixKernel& forward, std::size_t turn) {
  constexpr std::array types{DataType::float16, DataType::bfloat16, DataType::float32,
                             DataType::float64};
  constexpr std::array optimizers{
      Optimizer::row_wise_adagrad, Optimizer::adam,     Optimizer::sgd,
      Optimizer::adagrad,          Optimizer::momentum, Optimizer::plain_sgd};
  const DataType table = forward.spec.table_type;
  if (turn % 3 == 0 && !is_quantised(table)) {
    const bool is_narrow = table == DataType::float16 || table == DataType::bfloat16;
    return AppliedGradient{optimizers[turn / 3 % optimizers.size()], is_narrow && turn % 2 == 0};
  }
  if (turn % 3 == 1) return SparseGradient{types[turn / 3 % types.size()]};
  DenseGradient dense = scattered(forward);
  dense.type = types[turn / 3 % types.size()];
  return dense;
}

/// What can be added to in memory, in turn.
TableGradient added_gradient(const MatrixKernel& forward, std::size_t turn) {
  const DenseGradient dense = scattered(forward);
  const DataType table = forward.spec.table_type;
  if (turn % 3 == 1) return SparseGradient{dense.type};
  if (turn % 3 == 2 && (table == DataType::float32 || table == DataType::float64)) {
    return AppliedGradient{Optimizer::plain_sgd};
  }
  return dense;
}

DataType weight_gradient_type(std::size_t number) {
  constexpr std::array types{DataType::float32, DataType::bfloat16, DataType::float16,
                             DataType::float64, DataType::float32};
  return types[number % types.size()];
}

BackwardMatrixKernel gradient_of(MatrixKernel forward, std::size_t number) {
  forward.spec.end = {};
  forward.spec.winners = forward.spec.pooling.has(Pooling::max);
  BackwardMatrixKernel kernel{forward, {}, {}};
  kernel.spec.forward = forward.spec;
  if (number % 2 == 1) {
    kernel.method = BackwardMethod::sort;
    kernel.spec.deterministic = number % 4 == 1;
    kernel.spec.table_gradient = sorted_gradient(forward, number / 2);
  } else if (forward.seed % 4 == 1) {
    DenseGradient dense = scattered(forward);
    if (forward.seed % 8 == 1) dense.type = DataType::bfloat16;
    kernel.spec.table_gradient = ClearedGradient{dense};
  } else {
    kernel.spec.table_gradient = added_gradient(forward, number / 2);
  }
  if (forward.spec.weight_type && as<ClearedGradient>(kernel.spec) == nullptr) {
    kernel.spec.weight_gradient_type = weight_gradient_type(number);
  }
  kernel.spec = validated(kernel.spec);
  if (number % 4 == 2 && can_merge(kernel.spec)) kernel.method = BackwardMethod::merge;
  return kernel;
}

/// The gradient of the weights alone, of a kernel that is given some, and a use for them.
BackwardMatrixKernel weight_gradient_of(MatrixKernel forward, std::size_t number) {
  ForwardSpec& spec = forward.spec;
  if (!spec.weight_type) spec.weight_type = DataType::float32;
  if (poolings_with_weights(spec) == 0) {
    using enum Pooling;
    spec.pooling = spec.pooling.has(max)
                       ? Poolings{max, mean_by_weights, sum}
                       : Poolings{sum, mean, mean_by_weights, mean_by_length, mean_by_sqrt};
    spec.mean_length = spec.pooling.has(mean_by_length) ? 7 : 0;
    spec.output_stride = 0;
  }
  spec.end = {};
  spec.winners = spec.pooling.has(Pooling::max);
  spec = validated(spec);
  BackwardSpec gradient;
  gradient.forward = spec;
  gradient.table_gradient = std::monostate{};
  gradient.weight_gradient_type = weight_gradient_type(number);
  return {forward, validated(gradient)};
}

PlacedArray placed(std::int64_t bytes, std::int64_t alignment, std::int64_t element) {
  return {static_cast<std::size_t>(bytes),
          static_cast<std::size_t>(misalignment(alignment, element) * element)};
}

PlacedArray placed_floats(std::int64_t rows, std::int64_t width) {
  return placed(rows * width * 4, row_alignment(width * 4), 4);
}

/// How the arrays of a gradient are compared.
class Check {
 public:
  Check(const BackwardCase& given, const GradientArrays& after)
      : given_(given), after_(after), table_(gradient_table(given.spec)) {}

  [[nodiscard]] std::string of_table() const {
    for (const PlacedArray* array :
         {&after_.table, &after_.rows, &after_.first_moment, &after_.second_moment}) {
      if (!array->surroundings_are_poison()) return "Something was written outside of an array.";
    }
    if (as<std::monostate>(given_.spec) != nullptr) return {};
    if (as<SparseGradient>(given_.spec) != nullptr) return check_sparse();
    if (as<AppliedGradient>(given_.spec) != nullptr) return check_applied();
    return check_dense();
  }

  [[nodiscard]] std::string of_weights() const {
    if (!given_.spec.weight_gradient_type) return {};
    GradientArrays arrays = given_.before;
    return check_weight_gradient(given_.spec, given_.host_arguments(arrays), after_.weights);
  }

 private:
  using Element = host::OracleGradients::Element;

  [[nodiscard]] double element(const PlacedArray& array, std::int64_t at) const {
    return load_element(array.data() + at * size_of(table_.table_type), table_.table_type);
  }

  [[nodiscard]] auto oracle() const {
    GradientArrays arrays = after_;
    return host::oracle_gradients(given_.spec, given_.host_arguments(arrays)).rows;
  }

  /// Of a sum in the arithmetic of the kernels, rounded to the gradient's type.
  [[nodiscard]] bool is_close(double actual, double wanted, double magnitude) const {
    const std::int64_t ids = num_ids(given_.spec.forward, given_.inputs.host_arguments());
    const double terms = 2 * static_cast<double>(ids + given_.inputs.batch) + 16;
    const double unit = table_.table_type == DataType::float64 ? 0x1p-53 : 0x1p-24;
    const double sum_error = terms * unit * magnitude;
    const bool is_narrow = size_of(table_.table_type) == 2;
    const double rounding =
        is_narrow ? half_ulp(table_.table_type, std::abs(wanted) + sum_error) : 0;
    return std::abs(actual - wanted) <= sum_error + rounding;
  }

  [[nodiscard]] std::string check_dense() const {
    const auto expected = oracle();
    const std::int64_t dim = given_.spec.forward.dim;
    for (std::int64_t row = 0; row < given_.inputs.num_rows; ++row) {
      const auto found = expected.find(row);
      for (std::int64_t c = 0; c < table_.row_stride; ++c) {
        const bool is_gap = c >= dim;
        if (is_gap && row + 1 == given_.inputs.num_rows) continue;
        const std::int64_t at = row * table_.row_stride + c;
        const double actual = element(after_.table, at);
        if (is_gap && std::isnan(actual)) continue;
        const Element added = found == expected.end() || is_gap
                                  ? Element{}
                                  : found->second[static_cast<std::size_t>(c)];
        const double before = element(given_.before.table, at);
        if (as<ClearedGradient>(given_.spec) != nullptr) {
          if (actual == (added.magnitude > 0 ? 0 : before)) continue;
          return fmt::format("Row {} column {} is {} after clearing, and was {}.", row, c, actual,
                             before);
        }
        if (is_close(actual, before + added.value, added.magnitude + std::abs(before))) continue;
        return fmt::format("Row {} column {} is {} instead of {} + {}.", row, c, actual, before,
                           added.value);
      }
    }
    return {};
  }

  [[nodiscard]] std::string check_sparse() const {
    const auto expected = oracle();
    const auto found = static_cast<std::int64_t>(expected.size());
    const std::int64_t written = std::min(found, given_.capacity);
    if (after_.count.rows != written || after_.count.missing != found - written) {
      return fmt::format("The count is {} and {} missing instead of {} and {}.", after_.count.rows,
                         after_.count.missing, written, found - written);
    }
    const std::int64_t id_bytes = size_of(given_.spec.forward.id_type);
    const std::int64_t row_bytes = given_.spec.forward.dim * size_of(table_.table_type);
    std::int64_t place = 0;
    for (const auto& [row, elements] : expected) {
      if (place == written) break;
      const std::int64_t actual_row =
          load_integer(after_.rows.data() + place * id_bytes, given_.spec.forward.id_type);
      if (actual_row != row) return fmt::format("Row {} is at {} for {}.", actual_row, place, row);
      for (std::int64_t c = 0; c < given_.spec.forward.dim; ++c) {
        const Element wanted = elements[static_cast<std::size_t>(c)];
        const double actual = element(after_.table, place * given_.spec.forward.dim + c);
        if (is_close(actual, wanted.value, wanted.magnitude)) continue;
        return fmt::format("Row {} column {} is {} instead of {}.", row, c, actual, wanted.value);
      }
      ++place;
    }
    const auto rest = [&](const PlacedArray& array, std::int64_t bytes_each) {
      return std::span<const std::byte>(array.data(), array.bytes)
          .subspan(static_cast<std::size_t>(written * bytes_each));
    };
    if (!is_poison(rest(after_.rows, id_bytes)) || !is_poison(rest(after_.table, row_bytes))) {
      return "Something was written behind the last row.";
    }
    return {};
  }

  /// The CPU's step, which is compared with float64 in backward_test.cpp, on the same input.
  [[nodiscard]] std::string check_applied() const {
    GradientArrays expected = given_.before;
    BackwardArguments arguments = given_.host_arguments(expected);
    try {
      host::backward(given_.spec, arguments, 1);
    } catch (const Error&) {  // bad input, reported
    }
    const std::string moments =
        check_moments("first moment", after_.first_moment, expected.first_moment) +
        check_moments("second moment", after_.second_moment, expected.second_moment);
    if (!moments.empty()) return moments;
    for (std::int64_t at = 0; at < elements_of(after_.table); ++at) {
      const double actual = element(after_.table, at);
      const double wanted = element(expected.table, at);
      if (std::isnan(actual) && std::isnan(wanted)) continue;
      const double rounding =
          size_of(table_.table_type) == 2 ? 2 * half_ulp(table_.table_type, wanted) : 0;
      if (std::abs(actual - wanted) <= 1e-5 * (1 + std::abs(wanted)) + rounding) continue;
      return fmt::format("Element {} of the table is {} instead of {}, and was {}.", at, actual,
                         wanted, element(given_.before.table, at));
    }
    return {};
  }

  [[nodiscard]] std::int64_t elements_of(const PlacedArray& array) const {
    return static_cast<std::int64_t>(array.bytes) / size_of(table_.table_type);
  }

  static std::string check_moments(std::string_view name, const PlacedArray& actual,
                                   const PlacedArray& expected) {
    for (std::size_t at = 0; at + 4 <= actual.bytes; at += 4) {
      const double a = load_element(actual.data() + at, DataType::float32);
      const double e = load_element(expected.data() + at, DataType::float32);
      if (std::abs(a - e) <= 1e-5 * (1 + std::abs(e))) continue;
      return fmt::format("Element {} of the {} is {} instead of {}. ", at / 4, name, a, e);
    }
    return {};
  }

  const BackwardCase& given_;
  const GradientArrays& after_;
  ForwardSpec table_;
};

}  // namespace

std::vector<BackwardMatrixKernel> backward_matrix(std::uint64_t seed) {
  constexpr std::size_t one_of = 7;
  constexpr std::size_t one_of_weights = 16;
  const std::vector<MatrixKernel> forward = forward_matrix(seed);
  std::vector<BackwardMatrixKernel> kernels;
  for (std::size_t i = 0; i < forward.size(); i += one_of) {
    kernels.push_back(gradient_of(forward[i], i / one_of));
  }
  for (std::size_t i = 3; i < forward.size(); i += one_of_weights) {
    kernels.push_back(weight_gradient_of(forward[i], i / one_of_weights));
  }
  return kernels;
}

BackwardStrategy strategy_for(const BackwardMatrixKernel& kernel, const Target& target) {
  MatrixKernel as_forward = kernel.forward;
  as_forward.spec = gradient_table(kernel.spec);
  const BackwardStrategy strategy{kernel.method, strategy_for(as_forward, target)};
  try {
    validate(strategy, kernel.spec, target);
    return strategy;
  } catch (const Error&) {
    return default_strategy(kernel.spec, kernel.method, target);
  }
}

std::string describe(const BackwardMatrixKernel& kernel, const Target& target) {
  return fmt::format("{}; {}", to_text(kernel.spec), to_text(strategy_for(kernel, target)));
}

std::vector<ForwardCaseOptions> launches_of(const BackwardMatrixKernel& kernel,
                                            std::int64_t largest_batch) {
  std::vector<ForwardCaseOptions> launches = launches_of(kernel.forward, largest_batch);
  for (ForwardCaseOptions& options : launches) {
    // Poolings are added before their product with a row: an infinity of two signs may then have
    // one.
    if (poolings_with_weights(kernel.spec.forward) > 1) options.special = 0;
  }
  return launches;
}

BackwardCase::BackwardCase(const BackwardSpec& given, const ForwardCaseOptions& options)
    : BackwardCase(given, make_forward_case(options), options.seed) {}

BackwardCase::BackwardCase(const BackwardSpec& given, ForwardCase forward_case, std::uint64_t seed)
    : spec(validated(given)), inputs(std::move(forward_case)) {
  const ForwardSpec& forward = spec.forward;
  std::mt19937_64 random(seed);
  const auto small_number = [&] { return (static_cast<double>(random() % 129) - 64) / 32; };
  const auto bytes = [](std::size_t count) { return static_cast<std::int64_t>(count); };

  winners =
      placed(bytes(inputs.winners_bytes()), size_of(forward.id_type), size_of(forward.id_type));
  output_gradient =
      placed(bytes(inputs.output_bytes()), forward.output_alignment, size_of(forward.output_type));
  PlacedArray output = output_gradient;
  ForwardArguments arguments = inputs.host_arguments();
  arguments.winners = winners.data();
  arguments.output = output.data();
  try {
    host::forward(forward, arguments, 1);
  } catch (const Error&) {  // bad input, reported
  }
  // Gaps stay NaN.
  const std::int64_t width = output_width(forward);
  for (std::int64_t row = 0; row < output_rows(forward, arguments); ++row) {
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t at = row * forward.output_stride + i;
      store_element(output_gradient.data() + at * size_of(forward.output_type), forward.output_type,
                    small_number());
    }
  }

  if (spec.weight_gradient_type) {
    const std::int64_t size = size_of(*spec.weight_gradient_type);
    before.weights = placed(num_ids(forward, arguments) * size, size, size);
  }
  if (as<std::monostate>(spec) != nullptr) return;

  const ForwardSpec table = gradient_table(spec);
  const std::int64_t element = size_of(table.table_type);
  std::int64_t rows = inputs.num_rows;
  const bool is_sparse = as<SparseGradient>(spec) != nullptr;
  if (is_sparse) {
    BackwardArguments of_oracle = host_arguments(before);
    const auto named =
        static_cast<std::int64_t>(host::oracle_gradients(spec, of_oracle).rows.size());
    capacity = seed % 3 == 0 ? named / 2 : named + 3;
    rows = capacity;
    before.rows = placed(capacity * size_of(forward.id_type), size_of(forward.id_type),
                         size_of(forward.id_type));
  }
  const std::int64_t elements = rows == 0 ? 0 : (rows - 1) * table.row_stride + forward.dim;
  before.table = placed(elements * element, table.alignment, element);
  for (std::int64_t row = 0; !is_sparse && row < rows; ++row) {
    for (std::int64_t c = 0; c < forward.dim; ++c) {
      const std::int64_t at = row * table.row_stride + c;
      store_element(before.table.data() + at * element, table.table_type, small_number());
    }
  }
  if (const auto* applied = as<AppliedGradient>(spec)) {
    const Moments moments = moments_of(applied->optimizer, forward.dim);
    before.first_moment = placed_floats(rows, moments.first);
    before.second_moment = placed_floats(rows, moments.second);
    for (std::int64_t i = 0; i < rows * moments.first; ++i) {
      store_element(before.first_moment.data() + i * 4, DataType::float32, small_number());
    }
    // Over 0, or a step would be a matter of how the gradient was rounded.
    for (std::int64_t i = 0; i < rows * moments.second; ++i) {
      store_element(before.second_moment.data() + i * 4, DataType::float32,
                    std::abs(small_number()) + 0.5);
    }
    parameters.learning_rate = 0.125f;
    parameters.weight_decay = seed % 2 == 0 ? 0.01f : 0.0f;
    parameters.max_norm = seed % 3 == 0 ? 1.5f : 0.0f;
    parameters.step = 1 + static_cast<std::int64_t>(seed % 7);
    parameters.seed = seed;
  }
}

BackwardArguments BackwardCase::host_arguments(GradientArrays& arrays) const {
  BackwardArguments arguments;
  arguments.forward = inputs.host_arguments();
  arguments.forward.winners = const_cast<std::byte*>(winners.data());
  if (as<ClearedGradient>(spec) == nullptr) arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = arrays.table.data();
  arguments.updated_table = arrays.table.data();
  arguments.rows = arrays.rows.data();
  arguments.capacity = capacity;
  arguments.count = &arrays.count;
  arguments.first_moment = reinterpret_cast<float*>(arrays.first_moment.data());
  arguments.second_moment = reinterpret_cast<float*>(arrays.second_moment.data());
  arguments.parameters = &parameters;
  arguments.weight_gradient = arrays.weights.data();
  return arguments;
}

std::string BackwardCase::check(const GradientArrays& after, BackwardMethod method) const {
  const Check check(*this, after);
  const std::string problem = check.of_weights();
  const bool overlaps = host::Bags(spec.forward, inputs.host_arguments()).overlap();
  if (!problem.empty() || (method == BackwardMethod::sort && overlaps)) return problem;
  return check.of_table();
}

}  // namespace jitbag::test
