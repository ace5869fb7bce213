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

// One unit in the last place off at most; exact for powers of two.
inline float reciprocal(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

// The value of the lane whose number differs in the bits of `mask`; all 32 lanes must call it.
inline float shuffle_xor(float value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
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
  } else {
    asm volatile(
        "{ .reg .pred p; .reg .b16 h; setp.ne.u32 p, %1, 0; mov.b16 h, 0;"
        "  @p ld.global.nc.b16 h, [%2]; cvt.u32.u16 %0, h; }"
        : "=r"(to.word[0])
        : "r"((uint32)wanted), "l"(address));
  }
  return to;
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

inline float reciprocal(float value) {
  return 1.0f / value;
}

extern "C" float simt_shuffle_xor(float value, int mask);
extern "C" void simt_block_barrier();

inline float shuffle_xor(float value, int mask) {
  return simt_shuffle_xor(value, mask);
}
inline void block_barrier() {
  simt_block_barrier();
}
inline void let_next_kernel_start_and_wait_for_previous() {}

template <int bytes>
struct alignas(bytes) Loaded {
  uint32 word[bytes < 4 ? 1 : bytes / 4];
};

template <int bytes>
inline Loaded<bytes> load_if(bool wanted, const void* address) {
  Loaded<bytes> to = {};
  if (!wanted) return to;
  if constexpr (bytes == 2) {
    to.word[0] = *(const uint16*)address;
  } else {
    to = *(const Loaded<bytes>*)address;
  }
  return to;
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

// Element i of loaded words, as float32.
template <class T>
inline float element(const uint32* word, int i);
template <>
inline float element<float>(const uint32* word, int i) {
  return float_from_bits(word[i]);
}
template <>
inline float element<float16>(const uint32* word, int i) {
  return float_from_float16((uint16)(i % 2 == 0 ? word[i / 2] : word[i / 2] >> 16));
}
template <>
inline float element<bfloat16>(const uint32* word, int i) {
  return float_from_bits(i % 2 == 0 ? word[i / 2] << 16 : word[i / 2] & 0xffff0000u);
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

constexpr int greatest_common_divisor(int a, int b) {
  return b == 0 ? a : greatest_common_divisor(b, a % b);
}

// Writes n float32 values as T, in the widest stores that `alignment` bytes allow.
template <class T, int n, int alignment>
inline void store_as(T* address, const float* value) {
  constexpr int words = n * (int)sizeof(T) < 4 ? 1 : n * (int)sizeof(T) / 4;
  constexpr int bytes =
      greatest_common_divisor(greatest_common_divisor(16, alignment), n * (int)sizeof(T));
  uint32 word[words] = {};
#pragma unroll
  for (int i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 4) {
      word[i] = bits_of<T>(value[i]);
    } else {
      word[i / 2] |= bits_of<T>(value[i]) << (i % 2 * 16);
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
