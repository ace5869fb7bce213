#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "jitbag/jitbag.hpp"

/// Tables and ids that are made on the device, since the host would take minutes for some.
namespace jitbag::bench {

inline const KernelTemplate& fill_kernel() {
  static const KernelTemplate kernel = {.name = "fill.cu",
                                        .text = R"(
__device__ unsigned long long mixed(unsigned long long x) {  // the finaliser of SplitMix64
  x *= 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}
// 16-bit patterns of float16 numbers of a size around 0.1, of either sign.
extern "C" __global__ void fill(unsigned short* half, int* id, long long count, long long rows,
                                long long padding_in_1024, long long seed) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const unsigned long long bits = mixed(i + 1 + (unsigned long long)seed * 0x100000000ull);
    if (half) half[i] = (unsigned short)(0x2c00 | (bits & 0x83ff));
    if (id) id[i] = (bits & 1023) < padding_in_1024 ? 0 : 1 + (int)((bits >> 20) % (rows - 1));
  }
}
)",
                                        .entry = "fill"};
  return kernel;
}

inline void fill(Engine& engine, void* half, void* id, std::int64_t count, std::int64_t rows,
                 double padding, std::int64_t seed) {
  auto padding_in_1024 = static_cast<std::int64_t>(padding * 1024);
  std::array<void*, 6> parameters = {&half, &id, &count, &rows, &padding_in_1024, &seed};
  engine.kernel(fill_kernel()).launch({.blocks_x = 1024, .threads_x = 256}, parameters, nullptr);
}

/// Any bytes, taken as float16 numbers or as codes.
inline device::Buffer random_halves(Engine& engine, std::int64_t count, std::int64_t seed) {
  device::Buffer buffer(static_cast<std::size_t>(count) * 2);
  fill(engine, buffer.data(), nullptr, count, 2, 0, seed);
  return buffer;
}

/// int32 ids, uniform in [1, rows), some of them 0.
inline device::Buffer random_ids(Engine& engine, std::int64_t count, std::int64_t rows,
                                 double padding, std::int64_t seed) {
  device::Buffer buffer(static_cast<std::size_t>(count) * 4);
  fill(engine, nullptr, buffer.data(), count, rows, padding, seed);
  return buffer;
}

}  // namespace jitbag::bench
