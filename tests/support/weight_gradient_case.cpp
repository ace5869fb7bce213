#include "weight_gradient_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <variant>

#include "bags.hpp"
#include "elements.hpp"
#include "jitbag/error.hpp"
#include "jitbag/host.hpp"
#include "table_rows.hpp"
#include "tuning/weight_gradient_strategy.hpp"

namespace jitbag::test {
namespace {

using Element = host::OracleGradients::Element;

constexpr int warp_lanes = 32;

std::int64_t poolings_with_weights(const ForwardSpec& spec) {
  return std::count_if(spec.pooling.begin(), spec.pooling.end(), [](Pooling pooling) {
    return pooling != Pooling::max && pooling != Pooling::none;
  });
}

WeightGradientMatrixKernel gradient_of(MatrixKernel forward, std::size_t number) {
  constexpr std::array types{DataType::float32, DataType::bfloat16, DataType::float16,
                             DataType::float64, DataType::float32};
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
  gradient.weight_gradient_type = types[number % types.size()];
  return {forward, validated(gradient)};
}

/// A gradient of the table that anything has, for the same inputs.
BackwardSpec table_gradient_of(BackwardSpec spec) {
  spec.table_gradient = DenseGradient{};
  spec.weight_gradient_type = {};
  return spec;
}

/// What every id's element may be.
using Answers = std::vector<std::vector<Element>>;

class Check {
 public:
  Check(const WeightGradientCase& given, const PlacedArray& after)
      : given_(given),
        forward_(given.spec.forward),
        type_(*given.spec.weight_gradient_type),
        after_(after),
        array_(given.before),
        arguments_(given.host_arguments(array_)),
        bags_(forward_, arguments_.forward) {
    const bool is_wide = forward_.table_type == DataType::float64 ||
                         forward_.output_type == DataType::float64 || type_ == DataType::float64;
    unit_ = is_wide ? 0x1p-53 : 0x1p-24;
    largest_term_ = largest_term();
  }

  [[nodiscard]] std::string run() const {
    if (!after_.surroundings_are_poison()) return "Something was written outside of the gradient.";
    const Answers answers =
        given_.of_table.bags_overlap() ? answers_of_each_bag() : answers_of_all();
    const auto elements = static_cast<std::int64_t>(after_.bytes) / size_of(type_);
    for (std::int64_t at = 0; at < elements; ++at) {
      std::string problem =
          problem_at(at, at < bags_.num_ids() ? answers[at] : std::vector<Element>{});
      if (!problem.empty()) return problem;
    }
    return {};
  }

 private:
  /// Elements of a quantised row may cancel, but not its roundings.
  [[nodiscard]] double largest_term() const {
    const TableRows rows(forward_, arguments_.forward.table, arguments_.forward.scales);
    double largest = 0;
    for (std::int64_t bag = 0; bag < bags_.batch(); ++bag) {
      const Positions positions = bags_.bag(bag);
      for (std::int64_t i = positions.begin; i < positions.end; ++i) {
        if (!bags_.is_counted(i)) continue;
        const double term = rows.largest_term(bags_.id(i));
        if (std::isfinite(term)) largest = std::max(largest, term);
      }
    }
    return largest;
  }

  [[nodiscard]] Answers answers_of_all() const {
    const std::vector<Element> weights = host::oracle_gradients(given_.spec, arguments_).weights;
    Answers answers(weights.size());
    for (std::int64_t bag = 0; bag < bags_.batch(); ++bag) {
      const Positions positions = bags_.bag(bag);
      for (std::int64_t i = positions.begin; i < positions.end; ++i) answers[i] = {weights[i]};
    }
    return answers;
  }

  /// Each bag by itself, since of two that overlap either may be written.
  [[nodiscard]] Answers answers_of_each_bag() const {
    Answers answers(static_cast<std::size_t>(bags_.num_ids()));
    for (std::int64_t bag = 0; bag < bags_.batch(); ++bag) {
      const Positions positions = bags_.bag(bag);
      if (positions.size() <= 0) continue;
      const std::vector<Element> weights = weights_of(bag);
      for (std::int64_t i = positions.begin; i < positions.end; ++i) {
        answers[i].push_back(weights[i]);
      }
    }
    return answers;
  }

  [[nodiscard]] std::vector<Element> weights_of(std::int64_t bag) const {
    BackwardSpec spec = given_.spec;
    auto& csr = std::get<CsrBags>(spec.forward.bags);
    if (bag + 1 < bags_.batch()) csr.end = OffsetsEnd::included;
    spec.forward.counts = Counts::at_launch;
    BackwardArguments one = arguments_;
    const auto moved = [](const void* array, std::int64_t bytes) {
      return static_cast<const std::byte*>(array) + bytes;
    };
    one.forward.batch = 1;
    one.forward.num_ids = bags_.num_ids();
    one.forward.offsets = moved(one.forward.offsets, bag * size_of(csr.offset_type));
    one.output_gradient =
        moved(one.output_gradient, bag * forward_.output_stride * size_of(forward_.output_type));
    spec.forward.output_alignment = size_of(forward_.output_type);
    if (forward_.winners) {
      one.forward.winners = const_cast<std::byte*>(
          moved(one.forward.winners, bag * forward_.dim * size_of(forward_.id_type)));
    }
    return host::oracle_gradients(spec, one).weights;
  }

  [[nodiscard]] std::string problem_at(std::int64_t at, const std::vector<Element>& answers) const {
    const std::byte* const address = after_.data() + at * size_of(type_);
    const bool was_written = !is_poison({address, static_cast<std::size_t>(size_of(type_))});
    if (answers.empty()) {
      return was_written ? fmt::format("Id {}, outside of all bags, was given a gradient.", at)
                         : "";
    }
    if (!was_written) return fmt::format("Id {} of a bag was given no gradient.", at);
    const double actual = load_element(address, type_);
    if (std::any_of(answers.begin(), answers.end(),
                    [&](const Element& answer) { return agree(actual, answer); })) {
      return {};
    }
    return fmt::format("The gradient of weight {} is {} instead of {} (magnitude {}).", at, actual,
                       answers.back().value, answers.back().magnitude);
  }

  [[nodiscard]] bool agree(double actual, const Element& expected) const {
    if (std::isnan(expected.value)) return std::isnan(actual);
    if (std::isinf(expected.value)) return actual == expected.value;
    if (expected.magnitude == 0) return actual == 0;
    const double error = error_of(expected.magnitude);
    const double reach = std::abs(expected.value) + error;
    // A float64 sum may become a 16-bit number by way of float32.
    const double by_float32 = size_of(type_) == 2 ? half_ulp(DataType::float32, reach) : 0;
    return std::abs(actual - expected.value) <= error + half_ulp(type_, reach) + by_float32;
  }

  /// A sum of products over the columns, and for mean_by_weights over the bag as well; quotients
  /// and weights are rounded too. Gradients are at most 2, and divisors no less than 0.25.
  [[nodiscard]] double error_of(double magnitude) const {
    constexpr double most_passed_on = 2 / 0.25;
    const auto columns = static_cast<double>(forward_.dim * poolings_with_weights(forward_));
    const auto ids = static_cast<double>(bags_.num_ids());
    const double dequantised = 4 * unit_ * largest_term_ * columns * most_passed_on;
    return (columns + 2 * ids + 16) * unit_ * magnitude + dequantised;
  }

  const WeightGradientCase& given_;
  const ForwardSpec& forward_;
  DataType type_;
  const PlacedArray& after_;
  PlacedArray array_;  // which the oracle's arguments name; never written to
  BackwardArguments arguments_;
  Bags bags_;
  double unit_ = 0;
  double largest_term_ = 0;
};

}  // namespace

std::vector<WeightGradientMatrixKernel> weight_gradient_matrix(std::uint64_t seed) {
  constexpr std::size_t one_of = 8;
  const std::vector<MatrixKernel> forward = forward_matrix(seed);
  std::vector<WeightGradientMatrixKernel> kernels;
  for (std::size_t i = 3; i < forward.size(); i += one_of) {
    kernels.push_back(gradient_of(forward[i], kernels.size()));
  }
  return kernels;
}

Strategy strategy_for(const WeightGradientMatrixKernel& kernel, const Target& target) {
  Strategy strategy = strategy_for(kernel.forward, target);
  strategy.lanes_per_row =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(strategy.lanes_per_row)));
  strategy.bag_lanes = std::min(strategy.bag_lanes, warp_lanes / strategy.lanes_per_row);
  try {
    validate_weight_gradient(strategy, kernel.spec, target);
    return strategy;
  } catch (const Error&) {
    return weight_gradient_strategy(kernel.spec, target);
  }
}

std::string describe(const WeightGradientMatrixKernel& kernel, const Target& target) {
  return fmt::format("{}; {}", to_text(kernel.spec), to_text(strategy_for(kernel, target)));
}

std::vector<ForwardCaseOptions> launches_of(const WeightGradientMatrixKernel& kernel,
                                            std::int64_t largest_batch) {
  std::vector<ForwardCaseOptions> launches = launches_of(kernel.forward, largest_batch);
  for (ForwardCaseOptions& options : launches) {
    // Poolings are added before the product: an infinity of two signs may then have one.
    if (poolings_with_weights(kernel.spec.forward) > 1) options.special = 0;
  }
  return launches;
}

WeightGradientCase::WeightGradientCase(const BackwardSpec& given, const ForwardCaseOptions& options)
    : spec(validated(given)), of_table(table_gradient_of(spec), options) {
  const auto* fixed = std::get_if<FixedBags>(&spec.forward.bags);
  const std::int64_t ids =
      fixed != nullptr ? of_table.inputs.batch * fixed->size : of_table.inputs.num_ids;
  const auto element = static_cast<std::size_t>(size_of(*spec.weight_gradient_type));
  before = PlacedArray(static_cast<std::size_t>(ids) * element, element);
}

BackwardArguments WeightGradientCase::host_arguments(PlacedArray& weight_gradient) const {
  BackwardArguments arguments;
  arguments.forward = of_table.inputs.host_arguments();
  arguments.forward.winners = const_cast<std::byte*>(of_table.winners.data());
  arguments.output_gradient = of_table.output_gradient.data();
  arguments.weight_gradient = weight_gradient.data();
  return arguments;
}

std::string WeightGradientCase::check(const PlacedArray& after) const {
  return Check(*this, after).run();
}

}  // namespace jitbag::test
