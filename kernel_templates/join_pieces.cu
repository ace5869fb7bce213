// The last step of backward's sorted strategy: a block adds up the pieces of each long row that
// begins in one of its slices, in so many parts that its groups share, in an order that the row's
// length alone decides.

// clang-format off
#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "device.cuh"
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

// The slice after the last one that begins with this row.
inline int64 end_of_row(const SortedUses& uses, int64 first, uint32 row) {
  int64 step = 1;
  while (row_at(uses, (first + step) * uses.slice) == row) step *= 2;
  int64 low = first + step / 2;  // begins with the row, or is the first one
  int64 high = first + step;     // does not
  while (high - low > 1) {
    const int64 middle = (low + high) / 2;
    (row_at(uses, middle * uses.slice) == row ? low : high) = middle;
  }
  return high;
}

// A long row that begins in a slice: its number, or no_row, and the slice after its last one.
struct LongRow {
  uint32 number;
  int64 end;
};

inline LongRow long_row_of(const SortedUses& uses, int64 number) {
  const Slice slice = slice_of(uses, number);
  if (!slice.last_is_piece) return {no_row, number};
  return {slice.last_row, end_of_row(uses, number, slice.last_row)};
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
  __shared__ LongRow long_rows[slices_per_block];
  __shared__ Parts of_block;
  const int64 first_slice = (int64)(blockIdx.x / tiles) * slices_per_block;
  if (threadIdx.x < slices_per_block) {
    long_rows[threadIdx.x] = long_row_of(uses, first_slice + threadIdx.x);
  }
  block_barrier();
#pragma unroll 1
  for (int i = 0; i < slices_per_block; ++i) {
    const LongRow row = long_rows[i];
    if (row.number == no_row) continue;
    const int64 first = first_slice + i;
    RowGradient sum = sum_pieces(uses, lane, first, row.end, group, of_block);
    const bool is_whole = group == 0;
    const RowBefore before = load_row(gradients, lane, is_whole, row.number);
    const uint32 place = row_gradient == sparse_gradient ? uses.rows_before[first + 1] - 1 : 0;
    give_row(gradients, lane, is_whole, row.number, place, sum, before);
  }
}
