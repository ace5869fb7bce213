#pragma once

#include <cstddef>
#include <cstdint>

#include "jitbag/forward_spec.hpp"
#include "jitbag/quantise.hpp"

namespace jitbag::host {

/// Quantises rows one at a time, with the operations of float32, each of them rounded, that the
/// kernel on the GPU has: both give the same bits.
class RowQuantiser {
 public:
  RowQuantiser(const ForwardSpec& validated_spec, const QuantiseArguments& arguments);

  /// Writes codes, scale and bias of a row; false, and nothing is written, where a value is NaN or
  /// infinite.
  [[nodiscard]] bool quantise(std::int64_t row) const;

 private:
  struct ScaleAndBias {
    float scale = 1;
    float bias = 0;
  };

  [[nodiscard]] ScaleAndBias choose(const float* values) const;
  [[nodiscard]] float as_stored(float value) const;
  [[nodiscard]] std::uint8_t code(float value, const ScaleAndBias& by) const;
  void write_scale(std::int64_t row, const ScaleAndBias& by) const;
  void write_codes(const float* values, const ScaleAndBias& by, std::byte* codes) const;

  const float* values_;
  std::byte* table_;
  std::byte* scales_;
  std::int64_t dim_;
  std::int64_t stride_bytes_;
  DataType type_;
  RowScale scale_;
};

}  // namespace jitbag::host
