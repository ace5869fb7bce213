#include "bench/expected_step.hpp"

#include <bit>
#include <cmath>

#include "bench/training.hpp"

namespace jitbag::tools::bench {
namespace {

using Element = host::OracleGradients::Element;

constexpr double second_moment = std::bit_cast<float>(0x01010101u * second_moment_byte);

/// What is subtracted from an element of gradient g; `mean_of_squares` is that of its row.
double difference(Optimizer optimizer, double g, double mean_of_squares) {
  const OptimizerParameters& with = step_parameters;
  const double rate = with.learning_rate;
  const double epsilon = with.epsilon;
  switch (optimizer) {
    case Optimizer::sgd:
    case Optimizer::plain_sgd:
    case Optimizer::momentum:  // from a moment of 0
      break;
    case Optimizer::adagrad:
      return rate * g / (std::sqrt(second_moment + g * g) + epsilon);
    case Optimizer::row_wise_adagrad:
      return rate * g / (std::sqrt(second_moment + mean_of_squares) + epsilon);
    case Optimizer::adam: {
      const double beta2 = with.beta2;
      const double corrected = beta2 / (1 - beta2) * second_moment + g * g;
      return rate * g / (std::sqrt(corrected) + epsilon);
    }
  }
  return rate * g;
}

}  // namespace

std::vector<Element> expected_step(Optimizer optimizer, const std::vector<Element>& row,
                                   const std::vector<Element>& gradient) {
  double mean_of_squares = 0;
  for (const Element& one : gradient)
    mean_of_squares += one.value * one.value / static_cast<double>(gradient.size());
  std::vector<Element> after(row.size());
  for (std::size_t c = 0; c < row.size(); ++c) {
    after[c].value = row[c].value - difference(optimizer, gradient[c].value, mean_of_squares);
    after[c].magnitude =
        std::abs(row[c].value) + step_parameters.learning_rate * gradient[c].magnitude;
  }
  return after;
}

}  // namespace jitbag::tools::bench
