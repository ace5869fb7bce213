#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "jitbag/host.hpp"
#include "kernel_templates.hpp"

namespace jitbag::test {

/// A kernel that converts with the kernels' own primitives: thread i of the grid converts value i.
inline std::string conversion_source() {
  return "// Conversions\n" + std::string(templates::find("device.cuh")) +
         std::string(templates::find("encode.cuh")) + R"(
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
extern "C" __global__ void encode(const float* value, int count, unsigned char* e4m3s,
                                  unsigned char* e5m2s) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x);
  if (i >= count) return;
  e4m3s[i] = (unsigned char)code_from<float8_e4m3>(value[i]);
  e5m2s[i] = (unsigned char)code_from<float8_e5m2>(value[i]);
}
extern "C" __global__ void decode(const unsigned* word, int count, float* from_bytes,
                                  float* from_halves) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x);
  if (i >= count) return;
  for (int place = 0; place < 4; ++place) {
    float* to = from_bytes + 16 * i + 4 * place;
    to[0] = element<code_uint8>(word + i, place);
    to[1] = element<code_int8>(word + i, place);
    to[2] = element<float8_e4m3>(word + i, place);
    to[3] = element<float8_e5m2>(word + i, place);
  }
  for (int place = 0; place < 8; ++place) {
    float* to = from_halves + 16 * i + 2 * place;
    to[0] = element<code_uint4>(word + i, place);
    to[1] = element<code_int4>(word + i, place);
  }
}
extern "C" __global__ void convert_doubles(const unsigned long long* bits, int count,
                                           unsigned long long* copies, unsigned long long* words) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x);
  if (i >= count) return;
  const double value = element<double>((const uint32*)(bits + i), 0);
  ((double*)copies)[i] = value;
  words[i] = (unsigned long long)high_word(value) << 32 | low_word(value);
}
extern "C" __global__ void round_doubles(const double* value, int count, float16* float16s,
                                         bfloat16* bfloat16s) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x);
  if (i >= count) return;
  store_as<float16, 1, 2>(float16s + i, value + i);
  store_as<bfloat16, 1, 2>(bfloat16s + i, value + i);
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

/// Elements that a word of codes is decoded to, of bytes and of halves of bytes each.
constexpr std::size_t elements_of_word = 16;

/// Words in which every byte is at every place.
inline std::vector<std::uint32_t> words_of_codes() {
  std::vector<std::uint32_t> words;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    words.push_back(byte | (byte + 85) % 256 << 8 | (byte + 170) % 256 << 16 | (255 - byte) << 24);
  }
  return words;
}

/// Numbers of every exponent and either sign, infinities and a NaN.
inline std::vector<std::uint64_t> doubles() {
  std::vector<std::uint64_t> bits;
  for (std::uint64_t upper = 0; upper < 0x1000; ++upper) {
    bits.push_back(upper << 52);
    bits.push_back(upper << 52 | (upper % 0x800 == 0x7ff ? 0x8000000000000 : 0x123456789abcd));
  }
  return bits;
}

/// Doubles of either sign just beside the middle of two neighbours of a 16-bit type, nearer to it
/// than a float32 can be. Rounded to that type, the number at 2 * i has the pattern i, the next one
/// i + 1, but for the sign: those of odd patterns are negative.
inline std::vector<double> beside_middles(float (*widened)(std::uint16_t), std::uint16_t largest) {
  constexpr double by = 0x1p-40;
  std::vector<double> values;
  for (std::uint16_t bits = 0; bits < largest; ++bits) {
    const double low{widened(bits)};
    const double high{widened(static_cast<std::uint16_t>(bits + 1))};
    const double middle = (low + high) / (bits % 2 == 0 ? 2 : -2);
    values.insert(values.end(), {middle * (1 - by), middle * (1 + by)});
  }
  return values;
}
inline std::vector<double> beside_middles_of_float16() {
  return beside_middles(host::float_from_float16, 0x7bff);
}
inline std::vector<double> beside_middles_of_bfloat16() {
  return beside_middles(host::float_from_bfloat16, 0x7f7f);
}

/// How many of those are wrong.
inline int wrong_beside_middles(const std::vector<std::uint16_t>& rounded) {
  int wrong = 0;
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    const std::size_t sign = i / 2 % 2 * 0x8000;
    wrong += rounded[i] == (sign | (i / 2 + i % 2)) ? 0 : 1;
  }
  return wrong;
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

inline int wrong_encodings(const std::vector<float>& values, const std::vector<std::uint8_t>& e4m3s,
                           const std::vector<std::uint8_t>& e5m2s) {
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    wrong += e4m3s[i] == host::float8_e4m3_from(values[i]) ? 0 : 1;
    wrong += e5m2s[i] == host::float8_e5m2_from(values[i]) ? 0 : 1;
  }
  return wrong;
}
inline int wrong_decodings(const std::vector<std::uint32_t>& words,
                           const std::vector<float>& from_bytes,
                           const std::vector<float>& from_halves) {
  int wrong = 0;
  const auto check = [&wrong](float actual, float expected) {
    wrong += same_float(actual, expected) ? 0 : 1;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t place = 0; place < 4; ++place) {
      const auto byte = static_cast<std::uint8_t>(words[i] >> 8 * place);
      const float* of_byte = &from_bytes[elements_of_word * i + 4 * place];
      check(of_byte[0], static_cast<float>(byte));
      check(of_byte[1], static_cast<float>(static_cast<std::int8_t>(byte)));
      check(of_byte[2], host::float_from_float8_e4m3(byte));
      check(of_byte[3], host::float_from_float8_e5m2(byte));
    }
    for (std::size_t place = 0; place < 8; ++place) {
      const auto half = static_cast<int>(words[i] >> 4 * place & 0xf);
      const float* of_half = &from_halves[elements_of_word * i + 2 * place];
      check(of_half[0], static_cast<float>(half));
      check(of_half[1], static_cast<float>(half < 8 ? half : half - 16));
    }
  }
  return wrong;
}

}  // namespace jitbag::test
