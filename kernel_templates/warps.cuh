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
// All 32 lanes must call it.
inline uint32 word_of_first_lane(uint32 word) {
  return __shfl_sync(0xffffffffu, word, 0);
}

template <class T>
inline void add_in_block(T* sum, T value) {
  atomicAdd(sum, value);
}
inline void add_to_counter(uint32* counter, uint32 value) {
  atomicAdd(counter, value);
}
inline uint32 take_numbers_alone(uint32* counter, uint32 wanted) {
  return atomicAdd(counter, wanted);
}
// Puts a word where 0 is. Gives what there was before.
inline uint32 take_if_zero(uint32* word, uint32 value) {
  const uint32 before = *(volatile uint32*)word;
  return before != 0 ? before : atomicCAS(word, 0u, value);
}
// Both give what it was before.
inline int raise(int* number, int to) {
  return atomicMax(number, to);
}
inline uint32 set_bits(uint32* word, uint32 bits) {
  return atomicOr(word, bits);
}

// Words that blocks hand to each other while they run. Each says all by itself, so that no order
// with other memory is needed.
inline uint64 look_at(const uint64* word) {
  uint64 value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
// A look that the L1 cache may answer, with what the word was at some time since the launch.
inline uint64 glance_at(const uint64* word) {
  uint64 value;
  asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
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
inline uint32 word_of_first_lane(uint32 word) {
  uint32 all = threadIdx.x % 32 == 0 ? word : 0;
  for (int mask = 1; mask < 32; mask *= 2) all |= shuffle_word_xor(all, mask);
  return all;
}

template <class T>
inline void add_in_block(T* sum, T value) {
  *sum += value;
}
inline void add_to_counter(uint32* counter, uint32 value) {
  *counter += value;
}
inline uint32 take_numbers_alone(uint32* counter, uint32 wanted) {
  const uint32 first = *counter;
  *counter += wanted;
  return first;
}
inline uint32 take_if_zero(uint32* word, uint32 value) {
  const uint32 before = *word;
  if (before == 0) *word = value;
  return before;
}
inline int raise(int* number, int to) {
  const int before = *number;
  if (before < to) *number = to;
  return before;
}
inline uint32 set_bits(uint32* word, uint32 bits) {
  const uint32 before = *word;
  *word |= bits;
  return before;
}
inline uint64 look_at(const uint64* word) {
  return *word;
}
inline uint64 glance_at(const uint64* word) {
  return *word;
}
inline void show(uint64* word, uint64 value) {
  *word = value;
}

#endif

constexpr int warp_lanes = 32;

inline uint32 take_number(uint32* counter) {
  return take_numbers_alone(counter, 1);
}

// Of the values of a warp's lanes: the sum of those before this one, and of all.
template <class T>
struct WarpScan {
  T before;
  T all;
};

template <class T>
inline WarpScan<T> scan_warp(T value) {
  WarpScan<T> scan = {0, value};
#pragma unroll
  for (int mask = 1; mask < warp_lanes; mask *= 2) {
    const T other = shuffle_xor(scan.all, mask);
    if (threadIdx.x & mask) scan.before += other;
    scan.all += other;
  }
  return scan;
}

// Takes as many numbers as the lane wants, and gives the first one; all 32 must call it. In which
// order warps come is open.
inline uint32 take_numbers(uint32* counter, uint32 wanted) {
  const WarpScan<uint32> scan = scan_warp(wanted);
  uint32 first = 0;
  if (threadIdx.x % warp_lanes == 0) first = take_numbers_alone(counter, scan.all);
  return word_of_first_lane(first) + scan.before;
}

// The sum of the values of the block's threads before this one. `warp_sums` are shared by the
// block, one for each warp; every thread must call it.
template <int warps>
inline uint64 sum_before_in_block(uint64 value, uint64* warp_sums) {
  const int warp = (int)threadIdx.x / warp_lanes;
  const WarpScan<int64> scan = scan_warp((int64)value);
  if (threadIdx.x % warp_lanes == 0) warp_sums[warp] = (uint64)scan.all;
  block_barrier();
  uint64 before = (uint64)scan.before;
#pragma unroll
  for (int i = 0; i < warps; ++i) before += i < warp ? warp_sums[i] : 0;
  block_barrier();
  return before;
}
