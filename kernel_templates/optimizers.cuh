// One function for each optimizer: what is subtracted from an element x of a row with the gradient
// g, of which it steps the moments. The formulas and their sources are in jitbag/optimizer.hpp.

struct Step {
  Value rate;
  Value decay;
  Value max_norm;
  Value momentum;
  Value beta2;
  Value epsilon;
  Value correction1;  // Adam's
  Value correction2;
  int64 number;
  uint64 seed;
};

// What an element has beside its gradient.
struct Moments {
  Value first;
  Value second;
  Value of_row;  // row-wise: the second moment of the whole row
};

template <int optimizer>
inline Value difference(const Step&, Value, Moments&) {
  return 0;  // without one
}

template <>
inline Value difference<sgd_optimizer>(const Step& step, Value g, Moments&) {
  return step.rate * g;
}
template <>
inline Value difference<plain_sgd_optimizer>(const Step& step, Value g, Moments&) {
  return step.rate * g;
}
template <>
inline Value difference<momentum_optimizer>(const Step& step, Value g, Moments& moments) {
  moments.first = step.momentum * moments.first + g;
  return step.rate * moments.first;
}
template <>
inline Value difference<adagrad_optimizer>(const Step& step, Value g, Moments& moments) {
  moments.second += g * g;
  return step.rate * g / (square_root(moments.second) + step.epsilon);
}
template <>
inline Value difference<row_wise_adagrad_optimizer>(const Step& step, Value g, Moments& moments) {
  return step.rate / (square_root(moments.of_row) + step.epsilon) * g;
}
template <>
inline Value difference<adam_optimizer>(const Step& step, Value g, Moments& moments) {
  moments.first = step.momentum * moments.first + (1 - step.momentum) * g;
  moments.second = step.beta2 * moments.second + (1 - step.beta2) * g * g;
  return step.rate * (moments.first / step.correction1) /
         (square_root(moments.second / step.correction2) + step.epsilon);
}

constexpr bool has_first_moment = optimizer == momentum_optimizer || optimizer == adam_optimizer;
constexpr bool has_second_moment = optimizer == adagrad_optimizer || optimizer == adam_optimizer;
constexpr bool has_row_moment = optimizer == row_wise_adagrad_optimizer;

// 1 - beta^n, in float64: what is left of 1 after few steps has few bits.
inline Value bias_correction(float beta, int64 n) {
  double power = 1;
  double factor = beta;
  for (; n > 0; n /= 2) {
    if (n % 2 != 0) power *= factor;
    factor *= factor;
  }
  return (Value)(1 - power);
}

inline Step step_of(const StepParameters* given) {
  Step step = {};
  if constexpr (optimizer != no_optimizer) {
    step.rate = (Value)given->learning_rate;
    if constexpr (optimizer != plain_sgd_optimizer) {
      step.decay = (Value)given->weight_decay;
      step.max_norm = (Value)given->max_norm;
    }
    step.momentum = (Value)given->momentum;
    step.beta2 = (Value)given->beta2;
    step.epsilon = (Value)given->epsilon;
    step.number = given->step;
    step.seed = given->seed;
  }
  if constexpr (optimizer == adam_optimizer) {
    step.correction1 = bias_correction(given->momentum, given->step);
    step.correction2 = bias_correction(given->beta2, given->step);
  }
  return step;
}
