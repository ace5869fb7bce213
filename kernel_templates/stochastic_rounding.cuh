// Rounds up or down at random, so that the mean is right (Gupta et al. 2015), with the random
// numbers of Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011).

struct Random {
  uint32 word[4];
};

inline Random philox(Random counter, uint64 seed) {
  uint32 key0 = (uint32)seed;
  uint32 key1 = (uint32)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64 a = (uint64)0xD2511F53u * counter.word[0];
    const uint64 b = (uint64)0xCD9E8D57u * counter.word[2];
    counter = {{(uint32)(b >> 32) ^ counter.word[1] ^ key0, (uint32)b,
                (uint32)(a >> 32) ^ counter.word[3] ^ key1, (uint32)a}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// Sixteen random bits for each of eight columns.
inline Random random_of_columns(const Step& step, uint32 row, int first_column) {
  return philox({{(uint32)(first_column / 8), row, 0, (uint32)step.number}}, step.seed);
}
inline uint32 random_of_column(const Random& random, int column) {
  // Selected rather than indexed, which would put the words into memory.
  const int i = column % 8 / 2;
  const uint32 word = i == 0   ? random.word[0]
                      : i == 1 ? random.word[1]
                      : i == 2 ? random.word[2]
                               : random.word[3];
  return word >> column % 2 * 16 & 0xffff;
}

inline bool is_finite(float value) {
  return (bits_from_float(value) & 0x7f800000u) != 0x7f800000u;
}

// The value to one side or the other of it that the type has, as a float32.
template <class T>
inline float rounded_at_random(float value, uint32) {
  return value;  // a wide type
}

template <>
inline float rounded_at_random<bfloat16>(float value, uint32 random) {
  if (!is_finite(value)) return value;
  return float_from_bits(bits_from_float(value) + random & 0xffff0000u);
}

// From the largest float16 on, the nearest.
template <>
inline float rounded_at_random<float16>(float value, uint32 random) {
  const uint32 sign = bits_from_float(value) & 0x80000000u;
  const uint32 magnitude = bits_from_float(value) & 0x7fffffffu;
  if (!(float_from_bits(magnitude) < 65504.0f)) return value;
  uint32 rounded;
  if (magnitude < 0x38800000u) {  // below 2^-14 float16 numbers are 2^-24 apart
    const float scaled = float_from_bits(magnitude) * 16777216.0f;
    const float whole = (float)(int)scaled;
    const bool goes_up = (scaled - whole) * 65536.0f > (float)random;
    rounded = bits_from_float((whole + (goes_up ? 1.0f : 0.0f)) * (1.0f / 16777216.0f));
  } else {  // 13 bits of float32's mantissa are cut off
    const bool goes_up = (magnitude & 0x1fff) * 8 > random;
    rounded = (magnitude & ~0x1fffu) + (goes_up ? 0x2000 : 0);
  }
  return float_from_bits(sign | rounded);
}
