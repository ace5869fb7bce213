// Numbers the rows of sorted keys in ascending order. A block learns from all tiles before its own
// at once how many rows begin in them.

// clang-format off
#include "device.cuh"
#include "warps.cuh"
#include "sort_arguments.cuh"
// clang-format on

constexpr int warps = block_threads / warp_lanes;
constexpr int tile_keys = block_threads * keys_per_thread;

struct Tile {
  uint64 warp_sums[warps];
  uint64 rows_before;
  uint32 number;
};

inline uint32 rows_in_tile(const uint64* told) {
  uint64 seen = look_at(told);
  while (seen == 0) seen = look_at(told);
  return (uint32)seen - 1;
}

extern "C" __global__ void __launch_bounds__(block_threads)
    number_rows(NumberRowsArguments arguments) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  __shared__ Tile tile;
  const int thread = (int)threadIdx.x;
  if (thread == 0) tile.number = take_number(arguments.next_tile);
  block_barrier();
  const uint32 number = tile.number;
  const uint32 first = number * tile_keys + (uint32)(thread * keys_per_thread);

  uint32 key[keys_per_thread + 1];
  key[0] = first > 0 && first <= arguments.keys_count ? arguments.keys[first - 1] : no_row;
#pragma unroll
  for (int i = 0; i < keys_per_thread; i += 4) {
    // Behind the last key is other memory of the workspace.
    const auto four = load_if<16>(first + i < arguments.keys_count, arguments.keys + first + i);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      key[1 + i + k] = first + i + k < arguments.keys_count ? four.word[k] : no_row;
    }
  }
  uint32 begin_here = 0;
#pragma unroll
  for (int i = 1; i <= keys_per_thread; ++i) {
    begin_here += key[i] != key[i - 1] && key[i] != no_row ? 1 : 0;
  }
  const uint32 before_in_tile = (uint32)sum_before_in_block<warps>(begin_here, tile.warp_sums);
  if (thread == block_threads - 1) {
    show(arguments.tiles + number, (uint64)before_in_tile + begin_here + 1);
  }
  uint64 in_others = 0;
  for (uint32 i = (uint32)thread; i < number; i += block_threads) {
    in_others += rows_in_tile(arguments.tiles + i);
  }
  // What comes before the last thread, and what it has itself, is all there is.
  const uint64 before_thread = sum_before_in_block<warps>(in_others, tile.warp_sums);
  if (thread == block_threads - 1) tile.rows_before = before_thread + in_others;
  block_barrier();

  uint32 place = (uint32)tile.rows_before + before_in_tile;
  // Slices are a multiple of keys_per_thread long.
  if (first < arguments.keys_count && first % arguments.slice == 0) {
    arguments.rows_before[first / arguments.slice] = place;
  }
#pragma unroll
  for (int i = 1; i <= keys_per_thread; ++i) {
    if (key[i] == key[i - 1] || key[i] == no_row) continue;
    if (place < arguments.capacity) ((Id*)arguments.rows)[place] = (Id)key[i];
    ++place;
  }
  const bool is_last_tile = (int64)(number + 1) * tile_keys >= arguments.keys_count;
  if (is_last_tile && thread == block_threads - 1) {
    const uint32 slices = (arguments.keys_count + arguments.slice - 1) / arguments.slice;
    arguments.rows_before[slices] = place;
    const int64 written = place < arguments.capacity ? place : arguments.capacity;
    arguments.count[0] = written;
    arguments.count[1] = place - written;
  }
}
