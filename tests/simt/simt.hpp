// Plays CUDA for the C++ compiler: included before a kernel's source text by -include.
#pragma once

struct SimtIndex {
  unsigned x, y, z;
};

#define __global__ __attribute__((visibility("default")))
#define __launch_bounds__(...)
#define __forceinline__ inline
// All shared variables lie in one section, so that they can be poisoned before each block.
#define __shared__ static __attribute__((section("simt_shared")))

extern "C" {
__attribute__((visibility("default"))) SimtIndex threadIdx, blockIdx, blockDim, gridDim;

// Made by the linker where the section exists.
extern char __start_simt_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_simt_shared[] __attribute__((weak, visibility("hidden")));

__attribute__((visibility("default"))) void simt_poison_shared() {
  for (char* byte = __start_simt_shared; byte != __stop_simt_shared; ++byte) *byte = -1;
}
}
