#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "jitbag/host.hpp"
#include "kernel_templates.hpp"

namespace jitbag::test {

/// A kernel that converts with the kernels' own primitives: thread i of the grid converts value i.
inline std::string conversion_source() {
  return "// Conversions\n" + std::string(templates::find("device.cuh")) + R"(
extern "C" __global__ void convert(const float* value, int count, unsigned short* float16s,
                                   unsigned short* bfloat16s) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x);
  if (i >= count) return;
  float16s[i] = float16_from_float(value[i]);
  bfloat16s[i] = bfloat16_from_float(value[i]);
}
extern "C" __global__ void convert_back(const unsigned short* bits, int count, float* float16s,
                                        float* bfloat16s) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x);
  if (i >= count) return;
  const uint32 word = bits[i];
  float16s[i] = element<float16>(&word, 0);
  bfloat16s[i] = element<bfloat16>(&word, 0);
}
)";
}

/// Every 16-bit pattern.
inline std::vector<std::uint16_t> every_pattern() {
  std::vector<std::uint16_t> patterns;
  for (int bits = 0; bits < 0x10000; ++bits) patterns.push_back(static_cast<std::uint16_t>(bits));
  return patterns;
}

/// Every number of either 16-bit type, halfway to its neighbours, and just beside that.
inline std::vector<float> values_to_round() {
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower :
         {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u}) {
      const std::uint32_t bits = upper << 16 | lower;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      values.push_back(value);
    }
  }
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float number = host::float_from_float16(static_cast<std::uint16_t>(bits));
    const float next = host::float_from_float16(static_cast<std::uint16_t>(bits + 1));
    const float middle = number / 2 + next / 2;
    values.insert(values.end(),
                  {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)});
  }
  return values;
}

/// Whether two patterns are one number, all NaNs being one.
inline bool same_float16(std::uint16_t a, std::uint16_t b) {
  return a == b ||
         (std::isnan(host::float_from_float16(a)) && std::isnan(host::float_from_float16(b)));
}
inline bool same_bfloat16(std::uint16_t a, std::uint16_t b) {
  return a == b ||
         (std::isnan(host::float_from_bfloat16(a)) && std::isnan(host::float_from_bfloat16(b)));
}
inline bool same_float(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

/// How many results are wrong.
inline int wrong_conversions(const std::vector<float>& values,
                             const std::vector<std::uint16_t>& float16s,
                             const std::vector<std::uint16_t>& bfloat16s) {
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    wrong += same_float16(float16s[i], host::float16_from(values[i])) ? 0 : 1;
    wrong += same_bfloat16(bfloat16s[i], host::bfloat16_from(values[i])) ? 0 : 1;
  }
  return wrong;
}
inline int wrong_conversions_back(const std::vector<std::uint16_t>& patterns,
                                  const std::vector<float>& float16s,
                                  const std::vector<float>& bfloat16s) {
  int wrong = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    wrong += same_float(float16s[i], host::float_from_float16(patterns[i])) ? 0 : 1;
    wrong += same_float(bfloat16s[i], host::float_from_bfloat16(patterns[i])) ? 0 : 1;
  }
  return wrong;
}

}  // namespace jitbag::test
