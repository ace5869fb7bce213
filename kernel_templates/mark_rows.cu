// The first step of a sparse gradient without a sort: marks the rows that the ids which count name.

// clang-format off
#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "mark_arguments.cuh"
#include "device.cuh"
#include "warps.cuh"
#include "bags.cuh"
#include "report.cuh"
#include "positions.cuh"
// clang-format on

constexpr int bags_at_once = block_threads / lanes_per_bag;

// A look comes first: most of the ids that name one row find what they would mark, where
// additions to one word would wait for each other. The look may be as old as the launch, which
// finds it in the L1 cache: what it misses is marked once more.
inline void mark(const MarkArguments& to, Id row) {
  uint64* const place = to.marks + (uint64)row / rows_of_mark;
  const uint32 bit = 1u << (uint64)row % rows_of_mark;
  const uint64 seen = glance_at(place);
  if (((uint32)seen & bit) == 0 && (set_bits((uint32*)place, bit) & bit) == 0) {
    add_to_counter(to.named_in_chunk + ((uint64)row >> to.chunk_bits), 1u);
  } else if (((uint32)(seen >> 32) & bit) == 0) {
    set_bits((uint32*)place + 1, bit);
  }
}

extern "C" __global__ void __launch_bounds__(block_threads)
    mark_rows(BagArguments arguments, MarkArguments to) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  const Input in = input_of(arguments, nullptr, -1);
  const int lane = (int)threadIdx.x % lanes_per_bag;
  const int64 first_of_all = first_output_row(in);
  const int64 end_of_all = end_of_output_rows(in);
  const int64 first = to.first > first_of_all ? to.first : first_of_all;
  const int64 end = to.end < end_of_all ? to.end : end_of_all;
  const int64 step = (int64)gridDim.x * bags_at_once;
#pragma unroll 1
  for (int64 row = first + (int64)blockIdx.x * bags_at_once + (int64)threadIdx.x / lanes_per_bag;
       row < end; row += step) {
    const Positions positions = positions_of(in, row);
#pragma unroll 1
    for (int64 at = positions.begin + lane; at < positions.end; at += lanes_per_bag) {
      const Id id = in.ids[at];
      const bool is_padding = has_padding && id == (Id)padding_id;
      if (is_padding || (must_check && !is_in_table(id, in.num_rows))) continue;
      mark(to, id);
    }
  }
}
