// How threads of a warp, of a block and of different blocks meet: what sorting needs beside
// device.cuh.

#if defined(__CUDACC__)

// The lanes of the warp for which the condition holds; all 32 must call it.
inline uint32 ballot(bool condition) {
  return __ballot_sync(0xffffffffu, condition);
}
// Orders what the lanes of a warp do in memory.
inline void warp_barrier() {
  __syncwarp();
}
inline int count_bits(uint32 word) {
  return __popc(word);
}

inline void add_in_block(uint32* counter, uint32 value) {
  atomicAdd(counter, value);
}
inline void add_to_counter(uint32* counter, uint32 value) {
  atomicAdd(counter, value);
}
inline uint32 take_number(uint32* counter) {
  return atomicAdd(counter, 1u);
}
// Gives what it was before.
inline int raise(int* number, int to) {
  return atomicMax(number, to);
}

// Words that blocks hand to each other while they run. Each says all by itself, so that no order
// with other memory is needed.
inline uint64 look_at(const uint64* word) {
  uint64 value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
inline void show(uint64* word, uint64 value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

#else  // the CPU

inline uint32 ballot(bool condition) {
  uint32 lanes = (uint32)condition << threadIdx.x % 32;
  for (int mask = 1; mask < 32; mask *= 2) lanes |= shuffle_word_xor(lanes, mask);
  return lanes;
}
inline void warp_barrier() {
  shuffle_word_xor(0, 1);
}
inline int count_bits(uint32 word) {
  return __builtin_popcount(word);
}

inline void add_in_block(uint32* counter, uint32 value) {
  *counter += value;
}
inline void add_to_counter(uint32* counter, uint32 value) {
  *counter += value;
}
inline uint32 take_number(uint32* counter) {
  return (*counter)++;
}
inline int raise(int* number, int to) {
  const int before = *number;
  if (before < to) *number = to;
  return before;
}
inline uint64 look_at(const uint64* word) {
  return *word;
}
inline void show(uint64* word, uint64 value) {
  *word = value;
}

#endif

constexpr int warp_lanes = 32;

// Of the values of a warp's lanes: the sum of those before this one, and of all.
struct WarpScan {
  uint64 before;
  uint64 all;
};

inline WarpScan scan_warp(uint64 value) {
  WarpScan scan = {0, value};
#pragma unroll
  for (int mask = 1; mask < warp_lanes; mask *= 2) {
    const uint64 other = (uint64)shuffle_xor((int64)scan.all, mask);
    if (threadIdx.x & mask) scan.before += other;
    scan.all += other;
  }
  return scan;
}

// The sum of the values of the block's threads before this one. `warp_sums` are shared by the
// block, one for each warp; every thread must call it.
template <int warps>
inline uint64 sum_before_in_block(uint64 value, uint64* warp_sums) {
  const int warp = (int)threadIdx.x / warp_lanes;
  const WarpScan scan = scan_warp(value);
  if (threadIdx.x % warp_lanes == 0) warp_sums[warp] = scan.all;
  block_barrier();
  uint64 before = scan.before;
#pragma unroll
  for (int i = 0; i < warps; ++i) before += i < warp ? warp_sums[i] : 0;
  block_barrier();
  return before;
}
