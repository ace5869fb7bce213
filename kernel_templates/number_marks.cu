// Numbers the marked rows in ascending order, and clears the gradients of those that several ids
// will be added to. A block has 1024 rows of the table, a thread four.

// clang-format off
#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "mark_arguments.cuh"
#include "device.cuh"
#include "warps.cuh"
#include "bags.cuh"
#include "rows.cuh"
#include "marked_rows.cuh"
// clang-format on

constexpr int warps = block_threads / warp_lanes;
constexpr int rows_of_part = marks_of_part * rows_of_mark;
constexpr int rows_of_thread = rows_of_part / block_threads;
constexpr int threads_of_mark = rows_of_mark / rows_of_thread;
constexpr uint32 all_of_thread = (1u << rows_of_thread) - 1;

struct Part {
  uint64 warp_sums[warps];
  uint64 before;                  // rows that are named before the part
  uint32 added_to[rows_of_part];  // places of rows that are
  uint32 count;
};

// Rows that are named before the part: those of earlier chunks, and of the chunk's earlier parts.
// A thread's share of them.
inline uint64 named_before_part(const NumberMarksArguments& given, uint32 part) {
  const uint32 chunk = part / given.parts_of_chunk;
  const uint64 end = (uint64)part * marks_of_part;
  uint64 named = 0;
  for (uint32 i = threadIdx.x; i < chunk; i += block_threads) named += given.named_in_chunk[i];
  for (uint64 i = (uint64)chunk * given.parts_of_chunk * marks_of_part + threadIdx.x; i < end;
       i += block_threads) {
    named += (uint64)count_bits((uint32)given.marks[i]);
  }
  return named;
}

inline void clear_gradients(const NumberMarksArguments& given, const Part& part) {
  constexpr uint32 vectors = vectors_per_row > 0 ? vectors_per_row : 1;
  const Value zeros[elements] = {};
  const uint32 all = part.count * (uint32)vectors_per_row;
  for (uint32 i = threadIdx.x; i < all; i += block_threads) {
    const uint64 row = row_address((const char*)given.gradient, (Id)part.added_to[i / vectors]);
    store_as<Table, elements, vector_bytes>((Table*)(row + i % vectors * vector_bytes), zeros);
  }
}

extern "C" __global__ void __launch_bounds__(block_threads)
    number_marks(NumberMarksArguments given) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  __shared__ Part part;
  const uint32 number = blockIdx.x;
  const bool is_last = number + 1 == gridDim.x;
  if (!is_last && given.named_in_chunk[number / given.parts_of_chunk] == 0) return;

  const int thread = (int)threadIdx.x;
  const uint64 mark_number = (uint64)number * marks_of_part + thread / threads_of_mark;
  const int shift = thread % threads_of_mark * rows_of_thread;
  const uint64 marks = given.marks[mark_number];
  const uint32 named = (uint32)marks >> shift & all_of_thread;
  const uint32 added_to = added_to_of(marks) >> shift & all_of_thread;
  if (thread == 0) part.count = 0;
  const uint64 before_in_part = sum_before_in_block<warps>(count_bits(named), part.warp_sums);
  const uint64 others = named_before_part(given, number);
  const uint64 others_before = sum_before_in_block<warps>(others, part.warp_sums);
  // What comes before the last thread, and what it has itself, is all there is.
  if (thread == block_threads - 1) part.before = others_before + others;
  block_barrier();

  int64 place = (int64)(part.before + before_in_part);
  if (shift == 0) given.named_before[mark_number] = (uint32)place;
#pragma unroll
  for (int i = 0; i < rows_of_thread; ++i) {
    if ((named >> i & 1) == 0) continue;
    if (place < given.capacity) {
      ((Id*)given.rows)[place] = (Id)(mark_number * rows_of_mark + shift + i);
      if (added_to >> i & 1) part.added_to[take_numbers_alone(&part.count, 1)] = (uint32)place;
    }
    ++place;
  }
  if (is_last && thread == block_threads - 1) {
    const int64 written = place < given.capacity ? place : given.capacity;
    given.count[0] = written;
    given.count[1] = place - written;
  }
  block_barrier();
  clear_gradients(given, part);
}
