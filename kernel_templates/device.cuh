// Device primitives: all that is particular to an architecture, each with a portable version beside
// it, so that a kernel's text can also be compiled by a C++ compiler and run lane by lane on the
// CPU.

using int64 = long long;
using uint64 = unsigned long long;
using uint32 = unsigned int;
using uint16 = unsigned short;

struct float16 {
  uint16 bits;
};
struct bfloat16 {
  uint16 bits;
};
// Codes of row-quantised tables.
struct code_int8 {
  signed char bits;
};
struct code_uint8 {
  unsigned char bits;
};
struct code_int4 {};  // two in a byte, the first in its low half
struct code_uint4 {};
struct float8_e4m3 {
  unsigned char bits;
};
struct float8_e5m2 {
  unsigned char bits;
};

#if defined(__CUDACC__)

inline float float_from_bits(uint32 bits) {
  return __uint_as_float(bits);
}
inline uint32 bits_from_float(float value) {
  return __float_as_uint(value);
}

inline float float_from_float16(uint16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

inline uint16 float16_from_float(float value) {
  uint16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

inline double double_from_words(uint32 low, uint32 high) {
  return __hiloint2double((int)high, (int)low);
}
inline uint32 low_word(double value) {
  return (uint32)__double2loint(value);
}
inline uint32 high_word(double value) {
  return (uint32)__double2hiint(value);
}

// One unit in the last place off at most; exact for powers of two.
inline float reciprocal(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
inline float square_root(float value) {
  return sqrtf(value);
}
inline double square_root(double value) {
  return sqrt(value);
}

// Byte i of a word. By a permutation, since ptxas 13.0 makes of the store of a float16's low byte,
// where that is taken by a conversion to 8 bits, a conversion of its number.
inline unsigned char byte_of_word(uint32 word, int i) {
  return (unsigned char)__byte_perm(word, 0, 0x4440 | i);
}

// 2^23 plus byte i, as a float32: its exponent stands above the byte. One permutation of bytes
// instead of a shift, a mask and a conversion, which has a quarter of the throughput.
inline float magic_from_byte(uint32 word, int i) {
  return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7650 | i));
}

// The word of the lane whose number differs in the bits of `mask`; all 32 lanes must call it.
inline uint32 shuffle_word_xor(uint32 word, int mask) {
  return __shfl_xor_sync(0xffffffffu, word, mask);
}

inline void block_barrier() {
  __syncthreads();
}

// Programmatic dependent launch: lets the next kernel's blocks start, then waits for the end of the
// kernel before this one. Every thread waits, so a kernel never ends before the one before it has.
inline void let_next_kernel_start_and_wait_for_previous() {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Loads are predicated, not branched around, so that many of them are in flight; what is not wanted
// reads nothing and gives zeros. They are volatile to stay behind the wait above. The table is only
// ever read while a kernel runs, hence the non-coherent path.
template <int bytes>
struct Loaded {
  uint32 word[bytes < 4 ? 1 : bytes / 4];
};

template <int bytes>
inline Loaded<bytes> load_if(bool wanted, const void* address) {
  Loaded<bytes> to;
  if constexpr (bytes == 16) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %4, 0;"
        "  mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;"
        "  @p ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%5]; }"
        : "=&r"(to.word[0]), "=&r"(to.word[1]), "=&r"(to.word[2]), "=&r"(to.word[3])
        : "r"((uint32)wanted), "l"(address));
  } else if constexpr (bytes == 8) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.b32 %0, 0; mov.b32 %1, 0;"
        "  @p ld.global.nc.v2.b32 {%0, %1}, [%3]; }"
        : "=&r"(to.word[0]), "=&r"(to.word[1])
        : "r"((uint32)wanted), "l"(address));
  } else if constexpr (bytes == 4) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %1, 0; mov.b32 %0, 0; @p ld.global.nc.b32 %0, [%2]; }"
        : "=&r"(to.word[0])
        : "r"((uint32)wanted), "l"(address));
  } else if constexpr (bytes == 1) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %1, 0; mov.b32 %0, 0; @p ld.global.nc.u8 %0, [%2]; }"
        : "=&r"(to.word[0])
        : "r"((uint32)wanted), "l"(address));
  } else {
    asm volatile(
        "{ .reg .pred p; .reg .b16 h; setp.ne.u32 p, %1, 0; mov.b16 h, 0;"
        "  @p ld.global.nc.b16 h, [%2]; cvt.u32.u16 %0, h; }"
        : "=r"(to.word[0])
        : "r"((uint32)wanted), "l"(address));
  }
  return to;
}

// As load_if for up to 8 bytes, which are to stay in the L2 cache while others come and go.
template <int bytes>
inline Loaded<bytes> load_kept_if(bool wanted, const void* address) {
#if __CUDA_ARCH__ >= 800
  Loaded<bytes> to;
  uint64 policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (bytes == 8) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.b32 %0, 0; mov.b32 %1, 0;"
        "  @p ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%3], %4; }"
        : "=&r"(to.word[0]), "=&r"(to.word[1])
        : "r"((uint32)wanted), "l"(address), "l"(policy));
  } else if constexpr (bytes == 4) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %1, 0; mov.b32 %0, 0;"
        "  @p ld.global.nc.L2::cache_hint.b32 %0, [%2], %3; }"
        : "=&r"(to.word[0])
        : "r"((uint32)wanted), "l"(address), "l"(policy));
  } else {
    asm volatile(
        "{ .reg .pred p; .reg .b16 h; setp.ne.u32 p, %1, 0; mov.b16 h, 0;"
        "  @p ld.global.nc.L2::cache_hint.b16 h, [%2], %3; cvt.u32.u16 %0, h; }"
        : "=r"(to.word[0])
        : "r"((uint32)wanted), "l"(address), "l"(policy));
  }
  return to;
#else
  return load_if<bytes>(wanted, address);
#endif
}

// As load_if for 4 bytes and more, which are the first to leave the L2 cache again.
template <int bytes>
inline Loaded<bytes> load_passing_if(bool wanted, const void* address) {
#if __CUDA_ARCH__ >= 800
  Loaded<bytes> to;
  uint64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (bytes == 16) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %4, 0;"
        "  mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;"
        "  @p ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%5], %6; }"
        : "=&r"(to.word[0]), "=&r"(to.word[1]), "=&r"(to.word[2]), "=&r"(to.word[3])
        : "r"((uint32)wanted), "l"(address), "l"(policy));
  } else if constexpr (bytes == 8) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.b32 %0, 0; mov.b32 %1, 0;"
        "  @p ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%3], %4; }"
        : "=&r"(to.word[0]), "=&r"(to.word[1])
        : "r"((uint32)wanted), "l"(address), "l"(policy));
  } else if constexpr (bytes == 4) {
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %1, 0; mov.b32 %0, 0;"
        "  @p ld.global.nc.L2::cache_hint.b32 %0, [%2], %3; }"
        : "=&r"(to.word[0])
        : "r"((uint32)wanted), "l"(address), "l"(policy));
  } else {
    to = load_if<bytes>(wanted, address);
  }
  return to;
#else
  return load_if<bytes>(wanted, address);
#endif
}

template <int bytes>
inline void store(void* address, const uint32* word) {
  if constexpr (bytes == 16) {
    *(uint4*)address = make_uint4(word[0], word[1], word[2], word[3]);
  } else if constexpr (bytes == 8) {
    *(uint2*)address = make_uint2(word[0], word[1]);
  } else if constexpr (bytes == 4) {
    *(uint32*)address = word[0];
  } else {
    *(uint16*)address = (uint16)word[0];
  }
}

// Adds to what is in memory, whoever else adds to it: one float64, or as many float32 as the bytes
// hold, since sm_90 in one piece.
template <int bytes>
inline void add_words_to_memory(float* address, const float* value) {
  constexpr int piece = __CUDA_ARCH__ >= 900 ? bytes : 4;
  if constexpr (piece == 16) {
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address),
                 "f"(value[0]), "f"(value[1]), "f"(value[2]), "f"(value[3])
                 : "memory");
  } else if constexpr (piece == 8) {
    asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(address), "f"(value[0]),
                 "f"(value[1])
                 : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < bytes / 4; ++i) {
      asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(address + i), "f"(value[i])
                   : "memory");
    }
  }
}
inline void add_word_to_memory(double* address, double value) {
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(address), "d"(value) : "memory");
}

inline bool try_lock(uint32* lock) {
  return atomicCAS(lock, 0u, 1u) == 0u;
}
inline void unlock(uint32* lock) {
  atomicExch(lock, 0u);
}
inline void fence_to_host() {
  __threadfence_system();
}

#else  // the CPU

inline float float_from_bits(uint32 bits) {
  return __builtin_bit_cast(float, bits);
}
inline uint32 bits_from_float(float value) {
  return __builtin_bit_cast(uint32, value);
}

inline float float_from_float16(uint16 bits) {
  const uint32 sign = (uint32)(bits & 0x8000) << 16;
  const uint32 exponent = (bits >> 10) & 31;
  const uint32 fraction = bits & 0x3ff;
  if (exponent == 31) return float_from_bits(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return float_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = (float)fraction * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

inline uint16 float16_from_float(float value) {
  const uint32 bits = bits_from_float(value);
  const uint16 sign = (uint16)(bits >> 16 & 0x8000);
  const uint32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00;
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the unit is 2^-24: adding 0.5 leaves the rounded multiple in the low bits.
    return sign | (uint16)(bits_from_float(float_from_bits(magnitude) + 0.5f) - 0x3f000000u);
  }
  return sign | (uint16)((magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

inline double double_from_words(uint32 low, uint32 high) {
  return __builtin_bit_cast(double, (uint64)high << 32 | low);
}
inline uint32 low_word(double value) {
  return (uint32) __builtin_bit_cast(uint64, value);
}
inline uint32 high_word(double value) {
  return (uint32)(__builtin_bit_cast(uint64, value) >> 32);
}

inline float reciprocal(float value) {
  return 1.0f / value;
}
inline float square_root(float value) {
  return __builtin_sqrtf(value);
}
inline double square_root(double value) {
  return __builtin_sqrt(value);
}

inline unsigned char byte_of_word(uint32 word, int i) {
  return (unsigned char)(word >> 8 * i);
}

inline float magic_from_byte(uint32 word, int i) {
  return float_from_bits(0x4b000000u | (word >> 8 * i & 0xff));
}

extern "C" float simt_shuffle_xor(float value, int mask);
extern "C" void simt_block_barrier();

inline uint32 shuffle_word_xor(uint32 word, int mask) {
  return bits_from_float(simt_shuffle_xor(float_from_bits(word), mask));
}
inline void block_barrier() {
  simt_block_barrier();
}
inline void let_next_kernel_start_and_wait_for_previous() {}

template <int bytes>
struct alignas(bytes < 4 ? 4 : bytes) Loaded {
  uint32 word[bytes < 4 ? 1 : bytes / 4];
};

template <int bytes>
inline Loaded<bytes> load_if(bool wanted, const void* address) {
  Loaded<bytes> to = {};
  if (!wanted) return to;
  if constexpr (bytes == 1) {
    to.word[0] = *(const unsigned char*)address;
  } else if constexpr (bytes == 2) {
    to.word[0] = *(const uint16*)address;
  } else {
    to = *(const Loaded<bytes>*)address;
  }
  return to;
}

template <int bytes>
inline Loaded<bytes> load_kept_if(bool wanted, const void* address) {
  return load_if<bytes>(wanted, address);
}

template <int bytes>
inline Loaded<bytes> load_passing_if(bool wanted, const void* address) {
  return load_if<bytes>(wanted, address);
}

template <int bytes>
inline void store(void* address, const uint32* word) {
  if constexpr (bytes == 2) {
    *(uint16*)address = (uint16)word[0];
  } else {
    Loaded<bytes> from;
    for (int i = 0; i < bytes / 4; ++i) from.word[i] = word[i];
    *(Loaded<bytes>*)address = from;
  }
}

template <int bytes>
inline void add_words_to_memory(float* address, const float* value) {
  for (int i = 0; i < bytes / 4; ++i) address[i] += value[i];
}
inline void add_word_to_memory(double* address, double value) {
  *address += value;
}

inline bool try_lock(uint32* lock) {
  return *lock == 0 ? (*lock = 1, true) : false;
}
inline void unlock(uint32* lock) {
  *lock = 0;
}
inline void fence_to_host() {}

#endif

// bfloat16 is the upper half of a float32. Rounds to nearest even, in integers, since sm_75 has no
// conversion.
inline uint16 bfloat16_from_float(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  const uint32 bits = bits_from_float(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (uint16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
#endif
}

constexpr int greatest_common_divisor(int a, int b) {
  return b == 0 ? a : greatest_common_divisor(b, a % b);
}

inline double reciprocal(double value) {
  return 1.0 / value;
}

// Any value of four or eight bytes, as words.
template <class T>
constexpr int words_of = (int)sizeof(T) / 4;

inline uint32 word_of(float value, int) {
  return bits_from_float(value);
}
inline uint32 word_of(double value, int i) {
  return i == 0 ? low_word(value) : high_word(value);
}
inline uint32 word_of(int value, int) {
  return (uint32)value;
}
inline uint32 word_of(uint32 value, int) {
  return value;
}
inline uint32 word_of(int64 value, int i) {
  return (uint32)((uint64)value >> 32 * i);
}
inline void from_words(float& value, const uint32* word) {
  value = float_from_bits(word[0]);
}
inline void from_words(double& value, const uint32* word) {
  value = double_from_words(word[0], word[1]);
}
inline void from_words(int& value, const uint32* word) {
  value = (int)word[0];
}
inline void from_words(uint32& value, const uint32* word) {
  value = word[0];
}
inline void from_words(int64& value, const uint32* word) {
  value = (int64)((uint64)word[1] << 32 | word[0]);
}

// The value of the lane whose number differs in the bits of `mask`; all 32 lanes must call it.
template <class T>
inline T shuffle_xor(T value, int mask) {
  uint32 word[words_of<T>];
#pragma unroll
  for (int i = 0; i < words_of<T>; ++i) word[i] = shuffle_word_xor(word_of(value, i), mask);
  from_words(value, word);
  return value;
}

template <class T>
constexpr int bits_per_element = 8 * (int)sizeof(T);
template <>
constexpr int bits_per_element<code_int4> = 4;
template <>
constexpr int bits_per_element<code_uint4> = 4;

inline uint16 half_word(const uint32* word, int i) {
  return (uint16)(i % 2 == 0 ? word[i / 2] : word[i / 2] >> 16);
}
inline uint32 byte_of(const uint32* word, int i) {
  return word[i / 4] >> 8 * (i % 4) & 0xff;
}

inline float float_from_float8_e4m3(const uint32* word, int i) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  uint32 pair;  // of float16
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(half_word(word, i / 2)));
  return float_from_float16(half_word(&pair, i % 2));
#else
  // As float16 the seven lower bits stand for 2^-8 of what they mean, subnormal numbers too.
  const uint32 bits = byte_of(word, i);
  if ((bits & 0x7f) == 0x7f) return float_from_bits(0x7fc00000u);
  return 256.0f * float_from_float16((uint16)((bits & 0x80) << 8 | (bits & 0x7f) << 7));
#endif
}

// Element i of loaded words: float32, or float64 for a float64 table.
template <class T>
inline auto element(const uint32* word, int i) {
  if constexpr (sizeof(T) == 8) {
    return double_from_words(word[2 * i], word[2 * i + 1]);
  } else {
    return float_from_bits(word[i]);
  }
}
template <>
inline auto element<float16>(const uint32* word, int i) {
  return float_from_float16(half_word(word, i));
}
template <>
inline auto element<bfloat16>(const uint32* word, int i) {
  return float_from_bits(i % 2 == 0 ? word[i / 2] << 16 : word[i / 2] & 0xffff0000u);
}
template <>
inline auto element<code_uint8>(const uint32* word, int i) {
  return magic_from_byte(word[i / 4], i % 4) - 8388608.0f;
}
template <>
inline auto element<code_int8>(const uint32* word, int i) {
  return magic_from_byte(word[i / 4] ^ 0x80808080u, i % 4) - 8388736.0f;
}
template <>
inline auto element<code_uint4>(const uint32* word, int i) {
  return float_from_bits(0x4b000000u | (word[i / 8] >> 4 * (i % 8) & 0xf)) - 8388608.0f;
}
template <>
inline auto element<code_int4>(const uint32* word, int i) {
  return float_from_bits(0x4b000000u | ((word[i / 8] ^ 0x88888888u) >> 4 * (i % 8) & 0xf)) -
         8388616.0f;
}
template <>
inline auto element<float8_e4m3>(const uint32* word, int i) {
  return float_from_float8_e4m3(word, i);
}
template <>
inline auto element<float8_e5m2>(const uint32* word, int i) {
  return float_from_float16((uint16)(byte_of(word, i) << 8));  // the upper half of a float16
}

// Words of `bytes` at an address that no more than `alignment` divides.
template <int bytes, int alignment>
inline Loaded<bytes> load_aligned_if(bool wanted, const void* address) {
  constexpr int step = greatest_common_divisor(greatest_common_divisor(16, alignment), bytes);
  if constexpr (step == bytes) {
    return load_if<bytes>(wanted, address);
  } else {
    Loaded<bytes> to = {};
#pragma unroll
    for (int at = 0; at < bytes; at += step) {
      const Loaded<step> part = load_if<step>(wanted, (const char*)address + at);
      if constexpr (step >= 4) {
#pragma unroll
        for (int i = 0; i < step / 4; ++i) to.word[at / 4 + i] = part.word[i];
      } else {
        to.word[at / 4] |= part.word[0] << 8 * (at % 4);
      }
    }
    return to;
  }
}

// A float from which rounding to 16 bits gives what rounding the double itself would: the one
// towards zero, its last bit set where something was lost.
inline float narrowed_to_odd(float value) {
  return value;
}
inline float narrowed_to_odd(double value) {
  const float nearest = (float)value;
  const double back = nearest;
  if (back == value) return nearest;
  const bool is_further_out = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  const uint32 bits = bits_from_float(nearest);
  return float_from_bits((is_further_out ? bits - 1 : bits) | 1u);
}

template <class T>
inline uint32 bits_of(float value);
template <>
inline uint32 bits_of<float>(float value) {
  return bits_from_float(value);
}
template <>
inline uint32 bits_of<float16>(float value) {
  return float16_from_float(value);
}
template <>
inline uint32 bits_of<bfloat16>(float value) {
  return bfloat16_from_float(value);
}

// Writes n values (float or double) as T, in the widest stores that `alignment` bytes allow.
template <class T, int n, int alignment, class Value>
inline void store_as(T* address, const Value* value) {
  constexpr int words = n * (int)sizeof(T) < 4 ? 1 : (n * (int)sizeof(T) + 3) / 4;
  constexpr int bytes =
      greatest_common_divisor(greatest_common_divisor(16, alignment), n * (int)sizeof(T));
  uint32 word[words] = {};
#pragma unroll
  for (int i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 8) {
      word[2 * i] = low_word((double)value[i]);
      word[2 * i + 1] = high_word((double)value[i]);
    } else if constexpr (sizeof(T) == 4) {
      word[i] = bits_of<T>((float)value[i]);
    } else {
      word[i / 2] |= bits_of<T>(narrowed_to_odd(value[i])) << (i % 2 * 16);
    }
  }
  if constexpr (bytes == 2) {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const uint32 half = word[i / 2] >> (i % 2 * 16);
      store<2>(address + i, &half);
    }
  } else {
#pragma unroll
    for (int i = 0; i < words; i += bytes / 4) store<bytes>((char*)address + i * 4, word + i);
  }
}

// Adds n values to what is in memory, whoever else adds to it, in the widest additions that
// `alignment` bytes allow. T is float or double.
template <class T, int n, int alignment, class Value>
inline void add_to_memory(T* address, const Value* value) {
  if constexpr (sizeof(T) == 8) {
#pragma unroll
    for (int i = 0; i < n; ++i) add_word_to_memory(address + i, (double)value[i]);
  } else {
    constexpr int bytes = greatest_common_divisor(greatest_common_divisor(16, alignment), n * 4);
    float narrow[n];
#pragma unroll
    for (int i = 0; i < n; ++i) narrow[i] = (float)value[i];
#pragma unroll
    for (int i = 0; i < n; i += bytes / 4) add_words_to_memory<bytes>(address + i, narrow + i);
  }
}
