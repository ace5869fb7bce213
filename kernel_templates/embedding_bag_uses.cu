// The first step of backward's sorted strategy: which row each id uses (its key), how many keys
// have each digit, and what a bag passes on of its gradient.

// clang-format off
#include "bad_input_report.cuh"
#include "bag_arguments.cuh"
#include "device.cuh"
#include "warps.cuh"
#include "sort_arguments.cuh"
#include "bags.cuh"
#include "report.cuh"
#include "positions.cuh"
#include "passed_on.cuh"
// clang-format on

constexpr int bags_at_once = block_threads / lanes_per_bag;
constexpr bool needs_shares = needs_count || needs_weight_sum;
constexpr bool lanes_meet = lanes_per_bag > 1 && needs_shares;
constexpr int most_passes = 4;

inline void count_digits(uint32* digits, const UsesArguments& uses, uint32 key) {
  for (int pass = 0; pass < uses.passes; ++pass) {
    const uint32 digit = key >> pass * uses.digit_bits & ((1u << uses.digit_bits) - 1);
    add_in_block(digits + pass * most_digits + digit, 1u);
  }
}

// Notes the lane's share of a bag's ids; tells if there is bad input among them.
inline bool note_uses(const Input& in, const UsesArguments& uses, int64 row, int lane,
                      uint32* digits, Counted& counted) {
  const Positions positions = positions_of(in, row);
  bool is_bad = positions.are_bad;
#pragma unroll 1
  for (int64 at = positions.begin + lane; at < positions.end; at += lanes_per_bag) {
    const Id id = in.ids[at];
    const bool is_padding = has_padding && id == (Id)padding_id;
    const bool is_outside = must_check && !is_padding && !is_in_table(id, in.num_rows);
    const bool counts = !is_padding && !is_outside;
    is_bad |= is_outside;
    uses.keys[at] = counts ? (uint32)id : no_row;
    // Bags overlap only where offsets decrease; then the id is the last one's, and has one key.
    bool is_new = true;
    if constexpr (!is_fixed && !keeps_rows) is_new = raise(uses.bags + at, (int)row) < 0;
    if (!counts) continue;
    if (is_new) count_digits(digits, uses, (uint32)id);
    counted.count += 1;
    if constexpr (needs_weight_sum) {
      const auto weight = load_if<(int)sizeof(Weight)>(true, in.weights + at);
      counted.weight_sum += (Value)element<Weight>(weight.word, 0);
    }
  }
  return is_bad;
}

inline void write_shares(const UsesArguments& uses, int64 bag, const Counted& counted) {
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) {
    ((Value*)uses.shares)[bag * num_poolings + p] = passed_on(pooling_at(p), counted);
  }
}

extern "C" __global__ void __launch_bounds__(block_threads)
    embedding_bag_uses(BagArguments arguments, UsesArguments uses, BadInputReport* report) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  __shared__ uint32 digits[most_passes * most_digits];
  const int thread = (int)threadIdx.x;
  for (int i = thread; i < uses.passes * most_digits; i += block_threads) digits[i] = 0;
  block_barrier();

  const Input in = input_of(arguments, report, -1);
  const int lane = thread % lanes_per_bag;
  const int64 end = end_of_output_rows(in);
  const int64 step = (int64)gridDim.x * bags_at_once;
  // All of a warp go round as often, since its lanes meet.
#pragma unroll 1
  for (int64 first = first_output_row(in) + (int64)blockIdx.x * bags_at_once; first < end;
       first += step) {
    const int64 row = first + thread / lanes_per_bag;
    Counted counted = {};
    if (row < end && note_uses(in, uses, row, lane, digits, counted) && bad_ids == report_ids) {
      report_row(in, row);
    }
    if constexpr (lanes_meet) merge_counted<1, lanes_per_bag>(counted);
    if constexpr (needs_shares) {
      if (row < end && lane == 0) write_shares(uses, row, counted);
    }
  }

  block_barrier();
  for (int i = thread; i < uses.passes * most_digits; i += block_threads) {
    if (digits[i] != 0) add_to_counter(uses.digits + i, digits[i]);
  }
}
