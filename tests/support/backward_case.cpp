#include "backward_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "elements.hpp"
#include "jitbag/error.hpp"
#include "spec/arguments.hpp"
#include "spec/gradient_table.hpp"

namespace jitbag::test {
namespace {

const DenseGradient& dense_of(const BackwardSpec& spec) {
  const auto* cleared = std::get_if<ClearedGradient>(&spec.table_gradient);
  return cleared != nullptr ? cleared->of : std::get<DenseGradient>(spec.table_gradient);
}

bool is_cleared(const BackwardSpec& spec) {
  return std::holds_alternative<ClearedGradient>(spec.table_gradient);
}

BackwardMatrixKernel gradient_of(MatrixKernel forward) {
  forward.spec.end = {};
  forward.spec.winners = forward.spec.pooling.has(Pooling::max);
  BackwardSpec spec;
  spec.forward = forward.spec;
  DenseGradient dense;
  dense.type = forward.seed % 4 == 0 ? DataType::float64 : DataType::float32;
  dense.row_stride = forward.seed % 3 == 0 ? forward.spec.dim + 4 : 0;
  dense.alignment = forward.seed % 5 == 0 ? 0 : 16;
  spec.table_gradient = dense;
  if (forward.seed % 4 == 1) {
    if (forward.seed % 8 == 1) dense.type = DataType::bfloat16;
    spec.table_gradient = ClearedGradient{dense};
  }
  return {forward, validated(spec)};
}

PlacedArray placed(std::size_t bytes, std::int64_t alignment, std::int64_t element) {
  return {bytes, static_cast<std::size_t>(misalignment(alignment, element) * element)};
}

}  // namespace

std::vector<BackwardMatrixKernel> backward_matrix(std::uint64_t seed) {
  constexpr std::size_t one_of = 7;
  const std::vector<MatrixKernel> forward = forward_matrix(seed);
  std::vector<BackwardMatrixKernel> kernels;
  for (std::size_t i = 0; i < forward.size(); i += one_of) {
    kernels.push_back(gradient_of(forward[i]));
  }
  return kernels;
}

Strategy strategy_for(const BackwardMatrixKernel& kernel, const Target& target) {
  MatrixKernel as_forward = kernel.forward;
  as_forward.spec = gradient_table(kernel.spec);
  const Strategy strategy = strategy_for(as_forward, target);
  try {
    validate(strategy, kernel.spec, target);
    return strategy;
  } catch (const Error&) {
    return default_strategy(kernel.spec, target);
  }
}

std::string describe(const BackwardMatrixKernel& kernel, const Target& target) {
  return fmt::format("{}; {}", to_text(kernel.spec), to_text(strategy_for(kernel, target)));
}

BackwardCase::BackwardCase(const BackwardSpec& given, const ForwardCaseOptions& options)
    : spec(validated(given)), inputs(make_forward_case(options)) {
  const ForwardSpec& forward = spec.forward;
  std::mt19937_64 random(options.seed);
  const auto small_number = [&] { return (static_cast<double>(random() % 129) - 64) / 32; };

  winners = placed(inputs.winners_bytes(), size_of(forward.id_type), size_of(forward.id_type));
  output_gradient =
      placed(inputs.output_bytes(), forward.output_alignment, size_of(forward.output_type));
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

  const DenseGradient& dense = dense_of(spec);
  const std::int64_t rows = inputs.num_rows;
  const std::int64_t elements = rows == 0 ? 0 : (rows - 1) * dense.row_stride + forward.dim;
  gradient = placed(static_cast<std::size_t>(elements * size_of(dense.type)), dense.alignment,
                    size_of(dense.type));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t c = 0; c < forward.dim; ++c) {
      const std::int64_t at = row * dense.row_stride + c;
      store_element(gradient.data() + at * size_of(dense.type), dense.type, small_number());
    }
  }
}

BackwardArguments BackwardCase::host_arguments() const {
  BackwardArguments arguments;
  arguments.forward = inputs.host_arguments();
  arguments.forward.winners = const_cast<std::byte*>(winners.data());
  if (!is_cleared(spec)) arguments.output_gradient = output_gradient.data();
  return arguments;
}

std::string BackwardCase::check(const PlacedArray& after) const {
  const DenseGradient& dense = dense_of(spec);
  const auto element = [&](const PlacedArray& array, std::int64_t at) {
    return load_element(array.data() + at * size_of(dense.type), dense.type);
  };
  BackwardArguments arguments = host_arguments();
  arguments.table_gradient = const_cast<std::byte*>(after.data());
  const auto expected = host::oracle_gradients(spec, arguments).rows;
  if (!after.surroundings_are_poison()) return "Something was written outside of the gradient.";
  const double unit = dense.type == DataType::float64 ? 0x1p-53 : 0x1p-24;
  const auto* fixed = std::get_if<FixedBags>(&spec.forward.bags);
  const std::int64_t ids = fixed != nullptr ? inputs.batch * fixed->size : inputs.num_ids;
  const double terms = 2 * static_cast<double>(ids + inputs.batch) + 16;
  for (std::int64_t row = 0; row < inputs.num_rows; ++row) {
    const auto found = expected.find(row);
    for (std::int64_t c = 0; c < dense.row_stride; ++c) {
      const std::int64_t at = row * dense.row_stride + c;
      const bool is_gap = c >= spec.forward.dim;
      if (is_gap && row + 1 == inputs.num_rows) continue;
      const double before = element(gradient, at);
      const double actual = element(after, at);
      if (is_gap && std::isnan(actual)) continue;
      const auto added = found == expected.end() || is_gap
                             ? host::OracleGradients::Element{}
                             : found->second[static_cast<std::size_t>(c)];
      if (is_cleared(spec)) {
        const bool is_named = added.magnitude > 0;
        if (actual == (is_named ? 0 : before)) continue;
        return fmt::format("Row {} column {} is {} after clearing, and was {}.", row, c, actual,
                           before);
      }
      const double allowed = terms * unit * (added.magnitude + std::abs(before));
      if (std::abs(actual - (before + added.value)) <= allowed) continue;
      return fmt::format("Row {} column {} is {} instead of {} + {}.", row, c, actual, before,
                         added.value);
    }
  }
  return {};
}

}  // namespace jitbag::test
