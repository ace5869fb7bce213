// How a value becomes a code of a quantised table. Every operation is rounded to nearest even and
// none is contracted with another, so that the codes are the same bits wherever they are made.

#if defined(__CUDACC__)

inline float difference(float a, float b) {
  return __fsub_rn(a, b);
}
inline float quotient(float a, float b) {
  return __fdiv_rn(a, b);
}
inline int nearest_integer(float value) {
  return __float2int_rn(value);
}

#else  // the CPU

inline float difference(float a, float b) {
  return a - b;
}
inline float quotient(float a, float b) {
  return a / b;
}
inline int nearest_integer(float value) {
  return (int)__builtin_rintf(value);
}

#endif

// The integer nearest to the value among lowest to highest; the lowest one for a NaN.
template <int lowest, int highest>
inline uint32 integer_code(float value) {
  const float within = value > highest ? highest : value > lowest ? value : lowest;
  return (uint32)nearest_integer(within);
}

// A sign, an exponent and fraction_bits of fraction, saturated at the code `largest`. In integers,
// since only some architectures have instructions for it.
template <int fraction_bits, int exponent_bias, uint32 largest>
inline uint32 float8_code(float value) {
  constexpr int shift = 23 - fraction_bits;
  constexpr uint32 rebias = (uint32)(127 - exponent_bias) << 23;
  constexpr uint32 first_normal = rebias + (1u << 23);
  // Adding a number whose last place is the unit of the subnormals leaves the rounded multiple of
  // that unit in the low bits.
  constexpr uint32 subnormal_shifter = rebias + ((uint32)(shift + 1) << 23);
  const uint32 bits = bits_from_float(value);
  const uint32 sign = bits >> 24 & 0x80;
  const uint32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7f;
  if (magnitude < first_normal) {
    const float shifted = float_from_bits(magnitude) + float_from_bits(subnormal_shifter);
    return sign | (bits_from_float(shifted) - subnormal_shifter);
  }
  const uint32 to_even = magnitude >> shift & 1;
  const uint32 rounded = (magnitude - rebias + (1u << (shift - 1)) - 1 + to_even) >> shift;
  return sign | (rounded < largest ? rounded : largest);
}

// The code of a value in units of the row's scale.
template <class T>
inline uint32 code_from(float value);
template <>
inline uint32 code_from<code_uint8>(float value) {
  return integer_code<0, 255>(value);
}
template <>
inline uint32 code_from<code_uint4>(float value) {
  return integer_code<0, 15>(value);
}
template <>
inline uint32 code_from<code_int8>(float value) {
  return integer_code<-128, 127>(value) & 0xff;
}
template <>
inline uint32 code_from<code_int4>(float value) {
  return integer_code<-8, 7>(value) & 0xf;
}
template <>
inline uint32 code_from<float8_e4m3>(float value) {
  return float8_code<3, 7, 0x7e>(value);
}
template <>
inline uint32 code_from<float8_e5m2>(float value) {
  return float8_code<2, 15, 0x7b>(value);
}

// What the largest value of a row becomes, above the bias where codes count from there.
template <class T>
constexpr float largest_code = 0;
template <>
constexpr float largest_code<code_uint8> = 255;
template <>
constexpr float largest_code<code_uint4> = 15;
template <>
constexpr float largest_code<code_int8> = 127;
template <>
constexpr float largest_code<code_int4> = 7;
template <>
constexpr float largest_code<float8_e4m3> = 448;
template <>
constexpr float largest_code<float8_e5m2> = 57344;

template <class T>
constexpr bool counts_from_bias = false;
template <>
constexpr bool counts_from_bias<code_uint8> = true;
template <>
constexpr bool counts_from_bias<code_uint4> = true;
