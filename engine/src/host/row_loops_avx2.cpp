#include "host/row_loops.hpp"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include <cstring>

#include "host/row_vectors.hpp"

// Without fma: weight * row is rounded before it is added, as the portable loops do.
#define JITBAG_ROW_LOOPS_TARGET __attribute__((target("avx2,f16c")))

namespace jitbag::host {
namespace {

JITBAG_ROW_LOOPS_TARGET void load_halves(const std::byte* from, Words& words) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m256i wide = _mm256_cvtepu16_epi32(halves);
  std::memcpy(&words, &wide, sizeof words);
}

struct Float16 {
  using Stored = std::uint16_t;

  JITBAG_ROW_LOOPS_TARGET static void load(const std::byte* from, Floats& values) {
    values = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  JITBAG_ROW_LOOPS_TARGET static void store(const Floats& values, std::byte* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  }
  JITBAG_ROW_LOOPS_TARGET static float widen(std::uint16_t bits) { return _cvtsh_ss(bits); }
  JITBAG_ROW_LOOPS_TARGET static std::uint16_t narrow(float value) {
    return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
  }
};

}  // namespace
}  // namespace jitbag::host

#include "host/row_loops_body.hpp"

namespace jitbag::host {

namespace {

/// Not every compiler's __builtin_cpu_supports knows this one.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace

std::optional<RowLoops> avx2_row_loops(DataType table, DataType output) {
  if (!__builtin_cpu_supports("avx2") || !has_f16c()) return std::nullopt;
  return RowLoops{add_rows_of(table), write_quotients_of(output)};
}

}  // namespace jitbag::host

#else

namespace jitbag::host {

std::optional<RowLoops> avx2_row_loops(DataType, DataType) {
  return std::nullopt;
}

}  // namespace jitbag::host

#endif
