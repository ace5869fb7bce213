#pragma once

#include <bit>
#include <cstdint>

/// Conversions between float32 and narrower types, inline for the loops that need them.
namespace jitbag::host {

inline float widen_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) {
    const std::uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 127 - 15) << 23) | (mantissa << 13));
}

inline std::uint16_t round_to_float16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  constexpr std::uint32_t infinity = 0x7f800000u;
  constexpr std::uint32_t first_to_overflow = 0x477ff000u;  // 65520
  constexpr std::uint32_t first_normal = 0x38800000u;       // 2^-14

  std::uint32_t half = 0;
  if (magnitude > infinity) {
    half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= first_to_overflow) {
    half = 0x7c00u;
  } else if (magnitude >= first_normal) {
    const std::uint32_t to_even = (magnitude >> 13) & 1u;
    half = ((magnitude + 0xfffu + to_even) >> 13) - ((127u - 15u) << 10);
  } else {
    // Just above 0.5 the floats are 2^-24 apart, as the subnormal halves are, so that this addition
    // rounds to them.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    half = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  }
  return static_cast<std::uint16_t>(sign | half);
}

inline float widen_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t round_to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t to_even = (bits >> 16) & 1u;
  const std::uint32_t rounded = is_nan ? bits | 0x400000u : bits + 0x7fffu + to_even;
  return static_cast<std::uint16_t>(rounded >> 16);
}

inline float widen_float8_e4m3(std::uint8_t bits) {
  const std::uint32_t sign = (bits & 0x80u) << 24;
  const std::uint32_t magnitude = bits & 0x7fu;
  if (magnitude == 0x7f) return std::bit_cast<float>(sign | 0x7fc00000u);
  // In the place of a float's fields, the exponent is too low by the difference of the biases.
  return std::bit_cast<float>(sign | (magnitude << 20)) * 0x1p120f;
}

/// e5m2 is the upper half of a float16.
inline float widen_float8_e5m2(std::uint8_t bits) {
  return widen_float16(static_cast<std::uint16_t>(bits << 8));
}

/// The bits without the sign of `magnitude`, a number not above the largest one of a type with so
/// many bits of mantissa and that bias of the exponent.
template <unsigned mantissa_bits, unsigned bias>
std::uint32_t round_to_float8(float magnitude) {
  constexpr unsigned dropped = 23 - mantissa_bits;
  constexpr std::uint32_t first_normal = (127 - bias + 1) << 23;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(magnitude);
  if (bits >= first_normal) {
    const std::uint32_t to_even = (bits >> dropped) & 1u;
    return ((bits + (1u << (dropped - 1)) - 1 + to_even) >> dropped) -
           ((127 - bias) << mantissa_bits);
  }
  // Just above this one, floats are as far apart as the type's subnormals are, so that the addition
  // rounds to them.
  constexpr std::uint32_t shift = (127 - bias + 1 + dropped) << 23;
  return std::bit_cast<std::uint32_t>(magnitude + std::bit_cast<float>(shift)) - shift;
}

/// A sign, then the nearest magnitude, at most `largest`, which has the code `largest_code`.
template <int mantissa_bits, int bias>
std::uint8_t saturated_float8(float value, float largest, std::uint32_t largest_code) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 24) & 0x80u;
  const float magnitude = std::bit_cast<float>(bits & 0x7fffffffu);
  if (magnitude != magnitude) return static_cast<std::uint8_t>(sign | 0x7fu);
  if (magnitude >= largest) return static_cast<std::uint8_t>(sign | largest_code);
  return static_cast<std::uint8_t>(sign | round_to_float8<mantissa_bits, bias>(magnitude));
}

inline std::uint8_t round_to_float8_e4m3(float value) {
  return saturated_float8<3, 7>(value, 448.0f, 0x7e);
}

inline std::uint8_t round_to_float8_e5m2(float value) {
  return saturated_float8<2, 15>(value, 57344.0f, 0x7b);
}

/// A float from which rounding to a narrower type gives what rounding the double itself would: the
/// one towards zero, its last bit set where something was lost.
inline float narrowed_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  if (back == value) return nearest;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const bool rounded_up = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  return std::bit_cast<float>((rounded_up ? bits - 1 : bits) | 1u);
}

}  // namespace jitbag::host
