// One pass of a stable radix sort by the least significant digit, each block a tile of keys in one
// sweep (Adinets, Merrill: Onesweep, 2022): how many keys with a digit come in the tiles before it,
// a tile learns from those tiles while they run (Merrill, Garland: Single-pass Parallel Prefix Scan
// with Decoupled Look-back, 2016).

// clang-format off
#include "device.cuh"
#include "warps.cuh"
#include "sort_arguments.cuh"
// clang-format on

constexpr int warps = block_threads / warp_lanes;
constexpr int tile_keys = block_threads * keys_per_thread;
constexpr int digit_pairs = most_digits / 2;
static_assert(digit_pairs == block_threads, "a thread has two digits");

struct Tile {
  union {
    // Of each warp. A pair of digits is one word, of which the halves are added at once.
    uint16 counts[warps][most_digits];
    uint32 count_pairs[warps][digit_pairs];
    uint32 words[tile_keys];
  };
  uint32 first[most_digits];  // where a digit's keys begin in the tile
  uint32 base[most_digits];   // and in the whole, less that
  uint64 warp_sums[warps];
  uint32 number;
};

inline uint32 digit_of(uint32 key, const RadixPassArguments& arguments) {
  return key >> arguments.shift & ((1u << arguments.digit_bits) - 1);
}

// The lanes of the warp whose digit is the same.
inline uint32 lanes_with(uint32 digit, int digit_bits) {
  uint32 lanes = 0xffffffffu;
#pragma unroll
  for (int bit = 0; bit < most_digit_bits; ++bit) {
    if (bit >= digit_bits) break;
    const bool is_set = digit >> bit & 1;
    const uint32 set = ballot(is_set);
    lanes &= is_set ? set : ~set;
  }
  return lanes;
}

// What a tile says of a pair of digits: two counts of 31 bits, whether they are there, and whether
// they include those of all tiles before it.
constexpr uint64 is_there = 1ull << 31;
constexpr uint64 is_whole = 1ull << 63;
constexpr uint64 counts_mask = ~(is_there | is_whole);

inline uint64 pair_of(uint32 low, uint32 high) {
  return (uint64)high << 32 | low;
}

// The counts of a pair of digits in all tiles before this one. As many tiles are looked at together
// as hide the way to the L2 cache and back.
inline uint64 count_in_tiles_before(const uint64* of_pair, int tile) {
  constexpr int window = 8;
  uint64 before = 0;
  int at = tile - 1;
#pragma unroll 1
  while (at >= 0) {
    uint64 seen[window];
#pragma unroll
    for (int i = 0; i < window; ++i) {
      seen[i] = at >= i ? look_at(of_pair + (int64)(at - i) * digit_pairs) : is_there | is_whole;
    }
    int taken = 0;
    bool is_done = false;
#pragma unroll
    for (int i = 0; i < window; ++i) {
      const bool takes = !is_done && taken == i && (seen[i] & is_there);
      if (!takes) continue;
      before += seen[i] & counts_mask;
      taken = i + 1;
      is_done = seen[i] & is_whole;
    }
    if (is_done) break;
    at -= taken;
  }
  return before;
}

// Two blocks to a multiprocessor: while one waits for the tiles before it the other works.
extern "C" __global__ void __launch_bounds__(block_threads, 2)
    radix_pass(RadixPassArguments arguments) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  __shared__ Tile tile;
  const int thread = (int)threadIdx.x;
  const int warp = thread / warp_lanes;
  const int lane = thread % warp_lanes;
  // In the order in which they start, so that a tile waits for none that has yet to start.
  if (thread == 0) tile.number = take_number(arguments.next_tile);
  for (int i = lane; i < digit_pairs; i += warp_lanes) tile.count_pairs[warp][i] = 0;
  block_barrier();
  const int number = (int)tile.number;
  const uint32 first_key = (uint32)number * tile_keys;
  const uint32 keys_here =
      arguments.count - first_key < tile_keys ? arguments.count - first_key : tile_keys;

  const uint32 first_of_lane = (uint32)(warp * keys_per_thread * warp_lanes + lane);
  uint32 key[keys_per_thread];
  uint32 place[keys_per_thread];
#pragma unroll
  for (int i = 0; i < keys_per_thread; ++i) {
    const uint32 in_tile = first_of_lane + i * warp_lanes;
    // The last tile is filled up with keys that stay behind all others.
    key[i] = in_tile < keys_here ? arguments.keys[first_key + in_tile] : no_row;
  }
#pragma unroll
  for (int i = 0; i < keys_per_thread; ++i) {
    const uint32 digit = digit_of(key[i], arguments);
    const uint32 lanes = lanes_with(digit, arguments.digit_bits);
    const int before_in_warp = count_bits(lanes & ((1u << lane) - 1));
    const uint16 before = tile.counts[warp][digit];
    warp_barrier();
    if (before_in_warp == 0) tile.counts[warp][digit] = (uint16)(before + count_bits(lanes));
    warp_barrier();
    place[i] = before + before_in_warp;
  }
  block_barrier();

  // From here to the next barrier a thread has two digits, 2 * thread and the one after it.
  uint32 pair = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    const uint32 of_warp = tile.count_pairs[w][thread];
    tile.count_pairs[w][thread] = pair;
    pair += of_warp;
  }
  const uint32 low = pair & 0xffff;
  const uint32 high = pair >> 16;
  uint64* const of_pair = arguments.tiles + thread;
  uint64* const told = of_pair + (int64)number * digit_pairs;
  show(told, pair_of(low, high) | is_there | (number == 0 ? is_whole : 0));
  const uint32 all_low = arguments.digits[2 * thread];
  const uint32 all_high = arguments.digits[2 * thread + 1];
  // Of the tile and of the whole in one: of keys there are fewer than 2^31.
  const uint64 starts =
      sum_before_in_block<warps>((uint64)(all_low + all_high) << 32 | (low + high), tile.warp_sums);
  const bool is_digit = 2 * thread < 1 << arguments.digit_bits;
  const uint64 before = is_digit ? count_in_tiles_before(of_pair, number) : 0;
  if (number > 0) show(told, (before + pair_of(low, high)) | is_there | is_whole);
  const uint32 first = (uint32)starts;
  const uint32 start = (uint32)(starts >> 32);
  tile.first[2 * thread] = first;
  tile.first[2 * thread + 1] = first + low;
  tile.base[2 * thread] = start + (uint32)before - first;
  tile.base[2 * thread + 1] = start + all_low + (uint32)(before >> 32) - (first + low);
  block_barrier();

#pragma unroll
  for (int i = 0; i < keys_per_thread; ++i) {
    const uint32 digit = digit_of(key[i], arguments);
    place[i] += tile.first[digit] + tile.counts[warp][digit];
  }
  block_barrier();
  // Through shared memory, so that keys of one digit leave side by side.
#pragma unroll
  for (int i = 0; i < keys_per_thread; ++i) tile.words[place[i]] = key[i];
  block_barrier();
  uint32 to[keys_per_thread];
#pragma unroll
  for (int i = 0; i < keys_per_thread; ++i) {
    const uint32 at = (uint32)(i * block_threads + thread);
    const uint32 sorted = tile.words[at];
    to[i] = tile.base[digit_of(sorted, arguments)] + at;
    if (at < keys_here) arguments.sorted_keys[to[i]] = sorted;
  }
  block_barrier();
#pragma unroll
  for (int i = 0; i < keys_per_thread; ++i) {
    const uint32 in_tile = first_of_lane + i * warp_lanes;
    const uint32 at = first_key + in_tile;
    const bool is_read = arguments.positions != nullptr && in_tile < keys_here;
    tile.words[place[i]] = is_read ? arguments.positions[at] : at;
  }
  block_barrier();
#pragma unroll
  for (int i = 0; i < keys_per_thread; ++i) {
    const uint32 at = (uint32)(i * block_threads + thread);
    if (at < keys_here) arguments.sorted_positions[to[i]] = tile.words[at];
  }
}
