#pragma once

#include <cstdint>
#include <string_view>

namespace jitbag {

/// How a row x is stepped by its gradient g, where rows that no id names stay as they are. In each,
/// g is clipped first (OptimizerParameters::max_norm), then weight_decay * x is added to it.
/// Moments are float32, whatever the table's type.
enum class Optimizer : std::uint8_t {
  sgd,  ///< x -= rate * g
  /// The same without clipping or decay: max_norm and weight_decay are not read. Ids then need not
  /// meet before they step a row of float32 or float64, so that nothing has to be sorted.
  plain_sgd,
  momentum,          ///< m = momentum * m + g; x -= rate * m
  adagrad,           ///< v += g^2; x -= rate * g / (sqrt(v) + epsilon). Duchi, Hazan, Singer 2011
  row_wise_adagrad,  ///< the same with one v for each row, to which the mean of g^2 is added
  adam,              ///< Kingma, Ba 2014, algorithm 1: m and v corrected by their bias
};

/// What an optimizer keeps of each row from step to step.
struct Moments {
  std::int64_t first = 0;   ///< floats of BackwardArguments::first_moment for each row
  std::int64_t second = 0;  ///< the same of second_moment
};

[[nodiscard]] Moments moments_of(Optimizer optimizer, std::int64_t dim);

/// The numbers of one step. They are read where the step runs, so that a captured graph takes
/// others by writing them there.
struct OptimizerParameters {
  float learning_rate = 0.01f;
  float weight_decay = 0;
  float max_norm = 0;      ///< a row's gradient of a larger L2 norm is scaled to it; 0: none is
  float momentum = 0.9f;   ///< of momentum, and Adam's beta 1
  float beta2 = 0.999f;    ///< Adam's
  float epsilon = 1e-8f;   ///< Adagrad's and Adam's
  std::int64_t step = 1;   ///< counted from 1: Adam's bias correction, and the random numbers
  std::uint64_t seed = 0;  ///< of stochastic rounding
};

/// "row_wise_adagrad".
[[nodiscard]] std::string_view name(Optimizer optimizer);
[[nodiscard]] Optimizer parse_optimizer(std::string_view name);

}  // namespace jitbag
