#include "weight_gradient_check.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <variant>
#include <vector>

#include "bags.hpp"
#include "elements.hpp"
#include "host/bags.hpp"
#include "jitbag/host.hpp"
#include "table_rows.hpp"

namespace jitbag::test {
namespace {

using Element = host::OracleGradients::Element;

/// What every id's element may be.
using Answers = std::vector<std::vector<Element>>;

class WeightGradientCheck {
 public:
  WeightGradientCheck(const BackwardSpec& spec, const BackwardArguments& arguments,
                      const PlacedArray& after)
      : spec_(spec),
        type_(*spec.weight_gradient_type),
        arguments_(arguments),
        after_(after),
        bags_(spec.forward, arguments.forward) {
    // The table's gradient is for others to check.
    spec_.table_gradient = std::monostate{};
    const bool is_wide = forward_.table_type == DataType::float64 ||
                         forward_.output_type == DataType::float64 || type_ == DataType::float64;
    unit_ = is_wide ? 0x1p-53 : 0x1p-24;
    largest_term_ = largest_term();
  }

  [[nodiscard]] std::string run() const {
    if (!after_.surroundings_are_poison()) return "Something was written outside of the gradient.";
    const Answers answers = host::Bags(forward_, arguments_.forward).overlap()
                                ? answers_of_each_bag()
                                : answers_of_all();
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
    const std::vector<Element> weights = host::oracle_gradients(spec_, arguments_).weights;
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
    BackwardSpec spec = spec_;
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
    return std::abs(actual - expected.value) <= error + half_ulp(type_, reach);
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

  BackwardSpec spec_;
  const ForwardSpec& forward_ = spec_.forward;
  DataType type_;
  BackwardArguments arguments_;
  const PlacedArray& after_;
  Bags bags_;
  double unit_ = 0;
  double largest_term_ = 0;
};

}  // namespace

std::ptrdiff_t poolings_with_weights(const ForwardSpec& spec) {
  return std::count_if(spec.pooling.begin(), spec.pooling.end(), [](Pooling pooling) {
    return pooling != Pooling::max && pooling != Pooling::none;
  });
}

std::string check_weight_gradient(const BackwardSpec& spec, const BackwardArguments& arguments,
                                  const PlacedArray& after) {
  return WeightGradientCheck(spec, arguments, after).run();
}

}  // namespace jitbag::test
