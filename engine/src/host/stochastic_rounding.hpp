#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "host/floats.hpp"

namespace jitbag::host {

/// Philox4x32 with ten rounds (Salmon, Moraes, Dror, Shaw 2011): 128 random bits for a counter.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                           std::uint64_t key) {
  constexpr std::uint64_t multiplier[2] = {0xD2511F53, 0xCD9E8D57};
  constexpr std::uint32_t weyl[2] = {0x9E3779B9, 0xBB67AE85};
  std::uint32_t keys[2] = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = multiplier[0] * counter[0];
    const std::uint64_t b = multiplier[1] * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ keys[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ keys[1], static_cast<std::uint32_t>(a)};
    keys[0] += weyl[0];
    keys[1] += weyl[1];
  }
  return counter;
}

/// Sixteen random bits for an element of the table, the same on every run.
inline std::uint32_t random_bits(std::uint64_t seed, std::int64_t step, std::int64_t row,
                                 std::int64_t column) {
  // One counter serves eight columns.
  const auto words =
      philox({static_cast<std::uint32_t>(column / 8), static_cast<std::uint32_t>(row),
              static_cast<std::uint32_t>(row >> 32), static_cast<std::uint32_t>(step)},
             seed);
  return (words[static_cast<std::size_t>(column % 8 / 2)] >> (column % 2 * 16)) & 0xffffu;
}

/// Up in magnitude where what is cut off is more than the random share of a whole step.
inline std::uint16_t stochastic_bfloat16(float value, std::uint32_t random) {
  if (!std::isfinite(value)) return round_to_bfloat16(value);
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + random) >> 16);
}

/// The same; from the largest float16 on, the nearest.
inline std::uint16_t stochastic_float16(float value, std::uint32_t random) {
  const float magnitude = std::fabs(value);
  if (!(magnitude < 65504.0f)) return round_to_float16(value);
  // Below 2^-14 float16 numbers are 2^-24 apart; above, 10 bits of mantissa are kept.
  const int exponent = std::ilogb(std::fmax(magnitude, 0x1p-14f));
  const float scaled = std::ldexp(magnitude, 10 - exponent);
  const float whole = std::floor(scaled);
  const bool up = (scaled - whole) * 65536.0f > static_cast<float>(random);
  return round_to_float16(
      std::copysign(std::ldexp(whole + (up ? 1.0f : 0.0f), exponent - 10), value));
}

}  // namespace jitbag::host
