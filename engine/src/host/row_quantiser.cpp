#include "host/row_quantiser.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "host/floats.hpp"

namespace jitbag::host {
namespace {

bool is_float8(DataType type) {
  return type == DataType::float8_e4m3 || type == DataType::float8_e5m2;
}

/// What the largest value of a row becomes, above the bias where there is one.
float largest_code(DataType type, bool has_bias) {
  switch (type) {
    case DataType::float8_e4m3:
      return 448;
    case DataType::float8_e5m2:
      return 57344;
    case DataType::int4:
      return has_bias ? 15 : 7;
    default:
      return has_bias ? 255 : 127;
  }
}

/// A code of `bits` bits, in the low ones of a byte.
std::uint8_t rounded_code(float quotient, int bits, bool is_signed) {
  const float lowest = is_signed ? -std::ldexp(1.0f, bits - 1) : 0.0f;
  const float highest = lowest + std::ldexp(1.0f, bits) - 1.0f;
  const float nearest = std::fmin(std::fmax(std::rint(quotient), lowest), highest);
  return static_cast<std::uint8_t>(static_cast<int>(nearest) & ((1 << bits) - 1));
}

}  // namespace

RowQuantiser::RowQuantiser(const ForwardSpec& spec, const QuantiseArguments& arguments)
    : values_(arguments.values),
      table_(static_cast<std::byte*>(arguments.table)),
      scales_(static_cast<std::byte*>(arguments.scales)),
      dim_(spec.dim),
      stride_bytes_(row_stride_bytes(spec)),
      type_(spec.table_type),
      scale_(spec.row_scale) {}

bool RowQuantiser::quantise(std::int64_t row) const {
  const float* const values = values_ + row * dim_;
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(values, values + dim_, is_finite)) return false;
  const ScaleAndBias by = choose(values);
  if (scale_.place != RowScale::Place::nowhere) write_scale(row, by);
  write_codes(values, by, table_ + row * stride_bytes_ + scale_.codes_offset);
  return true;
}

RowQuantiser::ScaleAndBias RowQuantiser::choose(const float* values) const {
  if (scale_.place == RowScale::Place::nowhere) return {};
  const auto [smallest, largest] = std::minmax_element(values, values + dim_);
  const float most = largest_code(type_, scale_.has_bias);
  if (!scale_.has_bias || is_float8(type_)) {
    return {as_stored(std::max(std::abs(*smallest), std::abs(*largest)) / most), 0.0f};
  }
  // Adding 0 makes -0, which may or may not be found to be the smallest or the largest, 0.
  const float bias = *smallest + 0.0f;
  const float range = *largest + 0.0f - bias;
  return {as_stored(range / most), as_stored(bias)};
}

float RowQuantiser::as_stored(float value) const {
  if (scale_.type == DataType::float32) return value;
  constexpr float largest_half = 65504.0f;
  return widen_float16(round_to_float16(std::clamp(value, -largest_half, largest_half)));
}

void RowQuantiser::write_scale(std::int64_t row, const ScaleAndBias& by) const {
  const std::int64_t bytes = size_of(scale_.type);
  std::byte* to = scale_.place == RowScale::Place::in_row
                      ? table_ + row * stride_bytes_ + scale_.offset
                      : scales_ + row * bytes * (scale_.has_bias ? 2 : 1);
  for (const float part : {by.scale, by.bias}) {
    if (scale_.type == DataType::float32) {
      std::memcpy(to, &part, sizeof part);
    } else {
      const std::uint16_t half = round_to_float16(part);
      std::memcpy(to, &half, sizeof half);
    }
    if (!scale_.has_bias) return;
    to += bytes;
  }
}

std::uint8_t RowQuantiser::code(float value, const ScaleAndBias& by) const {
  if (by.scale == 0) return 0;  // all values of the row are equal, or nearly
  switch (type_) {
    case DataType::float8_e4m3:
      return round_to_float8_e4m3(value / by.scale);
    case DataType::float8_e5m2:
      return round_to_float8_e5m2(value / by.scale);
    default:
      return rounded_code((value - by.bias) / by.scale, static_cast<int>(bits_of(type_)),
                          !scale_.has_bias);
  }
}

void RowQuantiser::write_codes(const float* values, const ScaleAndBias& by,
                               std::byte* codes) const {
  if (type_ != DataType::int4) {
    for (std::int64_t column = 0; column < dim_; ++column) {
      codes[column] = std::byte{code(values[column], by)};
    }
    return;
  }
  for (std::int64_t column = 0; column < dim_; column += 2) {
    const std::uint8_t low = code(values[column], by);
    const std::uint8_t high = column + 1 < dim_ ? code(values[column + 1], by) : std::uint8_t{0};
    codes[column / 2] = static_cast<std::byte>(low | high << 4);
  }
}

}  // namespace jitbag::host
