// The last step of a transposition: writes sorted uses as the caller wants them. A warp takes whole
// slices, of which it is known how many rows begin before them.

// clang-format off
#include "device.cuh"
#include "warps.cuh"
#include "sort_arguments.cuh"
// clang-format on

constexpr int warps = block_threads / warp_lanes;

inline uint32 row_at(const SortedUses& uses, int64 use) {
  return use < uses.count ? uses.keys[use] : no_row;
}

inline Index bag_of(const SortedUses& uses, uint32 position) {
  if constexpr (bag_size > 0) return (Index)(position / (uint32)bag_size);
  return (Index)uses.bags[position];
}

inline void write_index(void* to, int64 at, Index value) {
  if (to != nullptr) ((Index*)to)[at] = value;
}

inline void write_use(const SortedUses& uses, const TransposedUses& to, int64 use,
                      uint32 position) {
  write_index(to.positions, use, (Index)position);
  if (to.bags != nullptr) write_index(to.bags, use, bag_of(uses, position));
  if constexpr (has_weights) {
    if (to.weights_by_row == nullptr) return;
    ((WeightBits*)to.weights_by_row)[use] = ((const WeightBits*)to.weights)[position];
  }
}

extern "C" __global__ void __launch_bounds__(block_threads)
    transpose_uses(SortedUses uses, TransposedUses to) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  const int lane = (int)threadIdx.x % warp_lanes;
  const int64 warp = (int64)blockIdx.x * warps + (int)threadIdx.x / warp_lanes;
  const int64 begin = warp * to.uses_per_warp;
  // Behind the last use there is one of no row, so that the last row ends as all others do: where
  // another one begins.
  const int64 all = (int64)uses.count + 1;
  const int64 end = begin + to.uses_per_warp < all ? begin + to.uses_per_warp : all;
  uint32 rows_before = begin < end ? uses.rows_before[begin / uses.slice] : 0;
#pragma unroll 1
  for (int64 first = begin; first < end; first += warp_lanes) {
    const int64 use = first + lane;
    const uint32 row = row_at(uses, use);
    const bool begins_row = use == 0 || row != row_at(uses, use - 1);
    const uint32 beginning = ballot(begins_row);
    // Of the use's row, among all that have uses.
    const int64 number = (int64)rows_before + count_bits(beginning & ((2u << lane) - 1)) - 1;
    rows_before += count_bits(beginning);
    if (begins_row && number <= to.capacity) write_index(to.begins, number, (Index)use);
    if (begins_row && row == no_row) *to.ids = use;
    if (use >= uses.count) continue;
    const uint32 position = uses.positions[use];
    const bool has_place = row != no_row && number < to.capacity;
    write_index(to.inverse, position, has_place ? (Index)number : (Index)-1);
    if (row != no_row) write_use(uses, to, use, position);
  }
}
