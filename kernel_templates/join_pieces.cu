// The last step of backward's sorted strategy: one block after the other takes a long row and adds
// up its pieces, in so many parts that its groups share, in an order that the row's length alone
// decides.

// clang-format off
#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "device.cuh"
#include "warps.cuh"
#include "sort_arguments.cuh"
#include "bags.cuh"
#include "rows.cuh"
#include "optimizers.cuh"
#include "stochastic_rounding.cuh"
#include "row_gradients.cuh"
#include "slices.cuh"
// clang-format on

constexpr int tiles =
    vectors_per_row == 0 ? 1 : (vectors_per_row + vectors_per_tile - 1) / vectors_per_tile;

// A long row: it begins in the slice `first`, and the last one with a piece of it is before `end`.
struct LongRow {
  uint32 number;
  int64 first;
  int64 end;
};

// The block looks for the end together, at as many slices in one look as it has threads.
inline LongRow long_row_of(const SortedUses& uses, int64 first, uint32* matches) {
  const uint32 row = row_at(uses, (first + 1) * uses.slice - 1);
  int64 low = first;                                      // has a piece
  int64 high = ((int64)uses.count - 1) / uses.slice + 1;  // has none
  while (high - low > 1) {
    const int64 step = (high - low - 2) / block_threads + 1;
    const int64 slice = low + ((int64)threadIdx.x + 1) * step;
    if (threadIdx.x == 0) *matches = 0;
    block_barrier();
    const uint32 lanes = ballot(slice < high && row_at(uses, slice * uses.slice) == row);
    if (threadIdx.x % warp_lanes == 0) add_to_counter(matches, (uint32)count_bits(lanes));
    block_barrier();
    low += *matches * step;
    high = low + step < high ? low + step : high;
    block_barrier();
  }
  return {row, first, high};
}

// Row by row the same for any block: what is added to what follows from the parts alone.
constexpr int parts = 32;
constexpr int rounds = (parts + groups_per_block - 1) / groups_per_block;

// A vector of each part's sum for each lane.
struct Parts {
  Value sum[parts][lanes_per_row][elements];
};

inline void add_piece(const SortedUses& uses, const Lane& lane, int64 slice, bool is_last,
                      bool is_wanted, RowGradient& sum) {
  constexpr int bytes = elements * (int)sizeof(Value);
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    const auto piece = load_aligned_if<bytes, piece_alignment>(
        is_wanted && lane.has_vector(v), piece_address(uses, lane, slice, is_last, v));
#pragma unroll
    for (int e = 0; e < elements; ++e) sum.value[v][e] += element<Value>(piece.word, e);
  }
}

// The group's parts of the row's pieces: of the one at its end of the first slice, and of those of
// the slices after it. Many are on their way together: a row of most ids is one block's.
inline void sum_parts(const SortedUses& uses, const Lane& lane, int64 first, int64 end, int group,
                      RowGradient* of_round) {
#pragma unroll 4
  for (int64 begin = first; begin < end; begin += parts) {
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const int part = round * groups_per_block + group;
      const int64 slice = begin + part;
      const bool is_wanted = part < parts && slice < end;
      add_piece(uses, lane, is_wanted ? slice : first, slice == first, is_wanted, of_round[round]);
    }
  }
}

// The sum of all parts, for the block's first group.
inline RowGradient sum_pieces(const SortedUses& uses, const Lane& lane, int64 first, int64 end,
                              int group, Parts& of_block) {
  RowGradient of_round[rounds] = {};
  sum_parts(uses, lane, first, end, group, of_round);
  RowGradient sum = {};
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const int part = round * groups_per_block + group;
      if (part >= parts) continue;
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        of_block.sum[part][lane.row_lane][e] = of_round[round].value[v][e];
      }
    }
    block_barrier();
    const int64 used = end - first < parts ? end - first : parts;
#pragma unroll 4
    for (int part = 0; group == 0 && part < used; ++part) {
#pragma unroll
      for (int e = 0; e < elements; ++e) sum.value[v][e] += of_block.sum[part][lane.row_lane][e];
    }
    block_barrier();
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(block_threads)
    join_pieces(SortedUses uses, RowGradientArguments to) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  const RowGradients gradients = row_gradients_of(to);
  const int group = (int)threadIdx.x / lanes_per_row;
  Lane lane = {};
  lane.tile = (int)(blockIdx.x % tiles);
  lane.row_lane = (int)threadIdx.x % lanes_per_row;
  __shared__ uint32 matches;
  __shared__ Parts of_block;
  const int64 count = *uses.long_rows_count;
#pragma unroll 1
  for (int64 i = blockIdx.x / tiles; i < count; i += gridDim.x / tiles) {
    const LongRow row = long_row_of(uses, uses.long_rows[i], &matches);
    RowGradient sum = sum_pieces(uses, lane, row.first, row.end, group, of_block);
    const bool is_whole = group == 0;
    const RowBefore before = load_row(gradients, lane, is_whole, row.number);
    const uint32 place = row_gradient == sparse_gradient ? uses.rows_before[row.first + 1] - 1 : 0;
    give_row(gradients, lane, is_whole, row.number, place, sum, before);
  }
}
