#include "host/optimizer_step.hpp"

#include <cmath>

namespace jitbag::host {
namespace {

template <class Number>
Number sum_of_squares(std::int64_t dim, const Number* values) {
  Number sum = 0;
  for (std::int64_t i = 0; i < dim; ++i) sum += values[i] * values[i];
  return sum;
}

template <class Number>
void clip(Number max_norm, std::int64_t dim, Number* gradient) {
  if (max_norm <= 0) return;
  const Number norm = std::sqrt(sum_of_squares(dim, gradient));
  if (!(norm > max_norm)) return;
  for (std::int64_t i = 0; i < dim; ++i) gradient[i] *= max_norm / norm;
}

/// Each takes the gradient of element i and gives what is subtracted from it.
template <class Number>
struct Momentum {
  Number rate, momentum;
  float* first;
  Number operator()(std::int64_t i, Number g) const {
    const Number m = momentum * static_cast<Number>(first[i]) + g;
    first[i] = static_cast<float>(m);
    return rate * m;
  }
};

template <class Number>
struct Adagrad {
  Number rate, epsilon;
  float* second;
  Number operator()(std::int64_t i, Number g) const {
    const Number v = static_cast<Number>(second[i]) + g * g;
    second[i] = static_cast<float>(v);
    return rate * g / (std::sqrt(v) + epsilon);
  }
};

template <class Number>
struct Adam {
  Number rate, beta1, beta2, epsilon, correction1, correction2;
  float *first, *second;
  Number operator()(std::int64_t i, Number g) const {
    const Number m = beta1 * static_cast<Number>(first[i]) + (1 - beta1) * g;
    const Number v = beta2 * static_cast<Number>(second[i]) + (1 - beta2) * g * g;
    first[i] = static_cast<float>(m);
    second[i] = static_cast<float>(v);
    return rate * (m / correction1) / (std::sqrt(v / correction2) + epsilon);
  }
};

}  // namespace

template <class Number>
void step(Optimizer optimizer, const OptimizerParameters& parameters, std::int64_t dim,
          Number* gradient, Number* x, const RowMoments& moments) {
  if (dim == 0) return;  // of no squares there is no mean
  const auto number = [](float value) { return static_cast<Number>(value); };
  const Number rate = number(parameters.learning_rate);
  const Number epsilon = number(parameters.epsilon);
  if (optimizer != Optimizer::plain_sgd) {
    clip(number(parameters.max_norm), dim, gradient);
    for (std::int64_t i = 0; i < dim; ++i) gradient[i] += number(parameters.weight_decay) * x[i];
  }
  const auto subtract = [&](auto difference) {
    for (std::int64_t i = 0; i < dim; ++i) x[i] -= difference(i, gradient[i]);
  };
  switch (optimizer) {
    case Optimizer::sgd:
    case Optimizer::plain_sgd:
      return subtract([&](std::int64_t, Number g) { return rate * g; });
    case Optimizer::momentum:
      return subtract(Momentum<Number>{rate, number(parameters.momentum), moments.first});
    case Optimizer::adagrad:
      return subtract(Adagrad<Number>{rate, epsilon, moments.second});
    case Optimizer::row_wise_adagrad: {
      const Number v =
          number(*moments.second) + sum_of_squares(dim, gradient) / static_cast<Number>(dim);
      *moments.second = static_cast<float>(v);
      const Number scale = rate / (std::sqrt(v) + epsilon);
      return subtract([&](std::int64_t, Number g) { return scale * g; });
    }
    case Optimizer::adam: {
      // In double: what is left of 1 after few steps has few bits.
      const auto correction = [&](float beta) {
        return static_cast<Number>(1 -
                                   std::pow(double{beta}, static_cast<double>(parameters.step)));
      };
      return subtract(Adam<Number>{rate, number(parameters.momentum), number(parameters.beta2),
                                   epsilon, correction(parameters.momentum),
                                   correction(parameters.beta2), moments.first, moments.second});
    }
  }
}

template void step<float>(Optimizer, const OptimizerParameters&, std::int64_t, float*, float*,
                          const RowMoments&);
template void step<double>(Optimizer, const OptimizerParameters&, std::int64_t, double*, double*,
                           const RowMoments&);

}  // namespace jitbag::host
