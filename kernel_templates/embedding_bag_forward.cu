// Embedding bag, forward: output[bag] = mean of the counted rows table[id].
//
// A group of lanes_per_row * bag_lanes lanes computes one bag, or one tile of its columns where a
// row is wider than the group holds. Each lane issues the loads of rows_in_flight rows before it
// adds the first: the gather is bound by how many bytes are on their way (an H200 needs about 25 KB
// for each SM).

#include "bad_id_report.cuh"
#include "device.cuh"

constexpr bool is_fixed = bag_size >= 0;
constexpr bool must_check = bad_ids != trust_ids;

constexpr int elements = vector_bytes / (int)sizeof(Table);
constexpr int vectors_per_row = dim / elements;
constexpr int vectors_per_tile = lanes_per_row * vectors_per_lane;
constexpr int tiles =
    vectors_per_row == 0 ? 1 : (vectors_per_row + vectors_per_tile - 1) / vectors_per_tile;
constexpr bool tiles_are_full = vectors_per_row % vectors_per_tile == 0;

constexpr int group_lanes = lanes_per_row * bag_lanes;
constexpr int groups_per_block = block_threads / group_lanes;
constexpr bool block_is_full = groups_per_block * group_lanes == block_threads;

// A fixed bag is cut into one run of ids for each bag lane; a CSR bag is dealt out id by id.
constexpr int run_length = is_fixed ? ((int)bag_size + bag_lanes - 1) / bag_lanes : 0;
constexpr bool runs_are_full = is_fixed && run_length * bag_lanes == bag_size;
// Ids and outputs are aligned to their own size at least, whatever the table is.
constexpr int id_alignment = base_alignment < (int)sizeof(Id) ? (int)sizeof(Id) : base_alignment;
constexpr int output_alignment =
    base_alignment < (int)sizeof(Output) ? (int)sizeof(Output) : base_alignment;
constexpr int id_vector_bytes =
    runs_are_full ? greatest_common_divisor(id_alignment,
                                            greatest_common_divisor(16, run_length*(int)sizeof(Id)))
                  : (int)sizeof(Id);
// Unrolled up to this many ids, a loop above: code size and compile time grow with each.
constexpr int unroll_limit = 32;

// Where a lane stands.
struct Lane {
  Index bag;
  int tile;
  int row_lane;
  int bag_lane;
  bool works;  // its group has a bag

  int vector(int v) const { return tile * vectors_per_tile + v * lanes_per_row + row_lane; }
  bool has_vector(int v) const { return tiles_are_full || vector(v) < vectors_per_row; }
};

struct Input {
  const Table* table;
  int64 num_rows;
  const Id* ids;
  int64 num_ids;
  const Offset* offsets;
  int64 batch;
  BadIdReport* report;
};

// A lane's share of the ids of a bag.
struct Run {
  Index position;  // of the next id
  Index end;       // no id at or after this position belongs to the bag
};

template <int n>
struct Ids {
  Id id[n];
  bool present[n];
};

template <int n>
struct Rows {
  Loaded<vector_bytes> vector[n][vectors_per_lane];
  bool counted[n];
};

struct Sum {
  float value[vectors_per_lane][elements];
  int count;
};

constexpr int id_step = is_fixed ? 1 : bag_lanes;

// A fixed run is gathered in full chunks and a rest. At least 1 where there is none, for the
// branches that are then left out must compile too.
constexpr int in_flight = run_length == 0               ? 1
                          : rows_in_flight < run_length ? rows_in_flight
                                                        : run_length;
constexpr int chunks = run_length / in_flight;
constexpr int rest = run_length % in_flight;
constexpr int rest_or_1 = rest == 0 ? 1 : rest;
constexpr int warps_per_group = group_lanes <= 32 ? 1 : group_lanes / 32;

template <int n>
inline Ids<n> load_ids(const Input& in, const Run& run) {
  Ids<n> ids;
  if constexpr (runs_are_full) {
    constexpr int bytes = greatest_common_divisor(id_vector_bytes, n * (int)sizeof(Id));
    constexpr int in_one = bytes / (int)sizeof(Id);
#pragma unroll
    for (int i = 0; i < n; i += in_one) {
      const auto loaded = load_if<bytes>(true, in.ids + run.position + i);
#pragma unroll
      for (int j = 0; j < in_one; ++j) {
        if constexpr (sizeof(Id) == 8) {
          ids.id[i + j] = (Id)((uint64)loaded.word[2 * j + 1] << 32 | loaded.word[2 * j]);
        } else {
          ids.id[i + j] = (Id)loaded.word[j];
        }
        ids.present[i + j] = true;
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const Index position = run.position + i * id_step;
      ids.present[i] = position < run.end;
      const auto loaded = load_if<(int)sizeof(Id)>(ids.present[i], in.ids + position);
      if constexpr (sizeof(Id) == 8) {
        ids.id[i] = (Id)((uint64)loaded.word[1] << 32 | loaded.word[0]);
      } else {
        ids.id[i] = (Id)loaded.word[0];
      }
    }
  }
  return ids;
}

inline bool is_in_table(Id id, int64 num_rows) {
  if constexpr (sizeof(Id) == 4) {
    // The sign bit turns a negative id into one that no table of 2^31 rows has.
    return (uint32)id < (num_rows < 0x80000000ll ? (uint32)num_rows : 0x80000000u);
  } else {
    return (uint64)id < (uint64)num_rows;
  }
}

// Unsigned, since it is also computed for a bad id, whose row is never read.
inline uint64 row_address(const Table* table, Id id) {
  constexpr uint64 row_bytes = row_stride * sizeof(Table);
  // With fewer than 2^31 rows, one widening multiplication instead of a 64-bit one.
  return (uint64)table + (addresses_are_32_bit ? (uint64)(uint32)id : (uint64)id) * row_bytes;
}

inline int64 clamp(int64 value, int64 low, int64 high) {
  return value < low ? low : value > high ? high : value;
}

// The first id of a CSR bag. Where ids are checked, offsets are kept within the ids as well.
inline int64 begin_of(const Input& in, int64 bag) {
  return must_check ? clamp(in.offsets[bag], 0, in.num_ids) : (int64)in.offsets[bag];
}

inline int64 end_of(const Input& in, int64 bag) {
  return offsets_include_end || bag + 1 < in.batch ? begin_of(in, bag + 1) : in.num_ids;
}

// Keeps the lowest position. Cold: only a bad id comes here. Inlined all the same, since a call
// would have the hot path keep its registers in memory.
__forceinline__ void report_bad_id(const Input& in, int64 position, int64 id, int64 bag) {
  volatile BadIdReport* report = in.report;
  while (!report->found || position < report->position) {
    if (!try_lock(&in.report->lock)) continue;
    const uint32 found = report->found;
    if (!found || position < report->position) {
      report->found = 0;
      fence_to_host();
      report->position = position;
      report->position_in_bag = position - (is_fixed ? bag * bag_size : begin_of(in, bag));
      report->id = id;
      report->bag = bag;
      report->num_rows = in.num_rows;
      fence_to_host();
      report->found = found + 1 == 0 ? 1 : found + 1;
    }
    fence_to_host();
    unlock(&in.report->lock);
  }
}

// Reads the ids again rather than keep them: one place in the code and no registers in the hot
// path.
__forceinline__ void report_bad_ids(const Input& in, const Run& run, int64 bag, uint64 which) {
#pragma unroll 1
  for (int i = 0; which != 0; ++i, which >>= 1) {
    const Index position = run.position + i * id_step;
    if (which & 1) report_bad_id(in, position, in.ids[position], bag);
  }
}

template <int n>
inline Rows<n> load_rows(const Input& in, const Lane& lane, const Run& run, const Ids<n>& ids) {
  static_assert(n <= 64);
  Rows<n> rows;
  uint64 bad = 0;  // a bit for each row
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const bool is_padding = has_padding && ids.id[i] == (Id)padding_id;
    const bool is_bad = must_check && !is_padding && !is_in_table(ids.id[i], in.num_rows);
    rows.counted[i] = ids.present[i] && !is_padding && !is_bad;
    const uint64 address = row_address(in.table, ids.id[i]);
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      rows.vector[i][v] =
          load_if<vector_bytes>(rows.counted[i] && lane.has_vector(v),
                                (const void*)(address + lane.vector(v) * vector_bytes));
    }
    bad |= (uint64)(ids.present[i] && is_bad) << i;
  }
  if (bad_ids == report_ids && bad != 0 && lane.row_lane == 0 && lane.tile == 0) {
    report_bad_ids(in, run, lane.bag, bad);
  }
  return rows;
}

template <int n>
inline void add(Sum& sum, const Rows<n>& rows) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        sum.value[v][e] += element<Table>(rows.vector[i][v].word, e);
      }
    }
    sum.count += rows.counted[i] ? 1 : 0;
  }
}

// In both loops the ids of the next chunk are on their way while the rows of this one are.
inline void add_fixed_run(Sum& sum, const Input& in, const Lane& lane) {
  if constexpr (run_length > 0) {
    const Index begin = lane.bag * (Index)bag_size;
    Run run = {begin + lane.bag_lane * run_length, begin + (Index)bag_size};
    Ids<in_flight> ids = load_ids<in_flight>(in, run);
#pragma unroll(run_length <= unroll_limit && chunks > 0 ? chunks : 1)
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Rows<in_flight> rows = load_rows<in_flight>(in, lane, run, ids);
      run.position += in_flight;
      if (chunk + 1 < chunks) ids = load_ids<in_flight>(in, run);
      add<in_flight>(sum, rows);
    }
    if constexpr (rest > 0) {
      const Ids<rest_or_1> last = load_ids<rest_or_1>(in, run);
      add<rest_or_1>(sum, load_rows<rest_or_1>(in, lane, run, last));
    }
  }
}

inline void add_csr_run(Sum& sum, const Input& in, const Lane& lane) {
  Run run = {(Index)begin_of(in, lane.bag) + lane.bag_lane, (Index)end_of(in, lane.bag)};
  Ids<rows_in_flight> ids = load_ids<rows_in_flight>(in, run);
#pragma unroll 1
  while (run.position < run.end) {
    const Rows<rows_in_flight> rows = load_rows<rows_in_flight>(in, lane, run, ids);
    run.position += rows_in_flight * id_step;
    ids = load_ids<rows_in_flight>(in, run);
    add<rows_in_flight>(sum, rows);
  }
}

// Adds the sums of the bag lanes of a warp; afterwards each of them has the total.
inline void reduce_in_warp(Sum& sum) {
#pragma unroll
  for (int mask = lanes_per_row; mask < group_lanes && mask < 32; mask *= 2) {
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
      for (int e = 0; e < elements; ++e) sum.value[v][e] += shuffle_xor(sum.value[v][e], mask);
    }
    sum.count += (int)bits_from_float(shuffle_xor(float_from_bits((uint32)sum.count), mask));
  }
}

// Adds the sums of a group's warps; afterwards the first warp of the group has the total.
inline void reduce_across_warps(Sum& sum, int thread) {
  constexpr int values = vectors_per_lane * elements + 1;
  __shared__ float shared[block_threads / 32][values][lanes_per_row];
  const int warp = thread / 32;
  const int in_warp = thread % 32;
  if (in_warp < lanes_per_row) {
#pragma unroll
    for (int i = 0; i < values; ++i) {
      shared[warp][i][in_warp] = i + 1 < values ? sum.value[i / elements][i % elements]
                                                : float_from_bits((uint32)sum.count);
    }
  }
  block_barrier();
  if (warp % warps_per_group != 0 || in_warp >= lanes_per_row) return;
#pragma unroll
  for (int other = 1; other < warps_per_group; ++other) {
#pragma unroll
    for (int i = 0; i + 1 < values; ++i) {
      sum.value[i / elements][i % elements] += shared[warp + other][i][in_warp];
    }
    sum.count += (int)bits_from_float(shared[warp + other][values - 1][in_warp]);
  }
}

inline void store_mean(Sum& sum, const Lane& lane, Output* output) {
  const float scale = sum.count > 0 ? reciprocal((float)sum.count) : 0.0f;
  constexpr int alignment =
      (int)greatest_common_divisor(output_alignment, dim % 16 * (int)sizeof(Output));
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    if (!lane.has_vector(v)) continue;
#pragma unroll
    for (int e = 0; e < elements; ++e) sum.value[v][e] *= scale;
    store_as<Output, elements, alignment>(output + lane.bag * dim + lane.vector(v) * elements,
                                          sum.value[v]);
  }
}

extern "C" __global__ void __launch_bounds__(block_threads)
    embedding_bag_mean(const Table* table, int64 num_rows, const Id* ids, int64 num_ids,
                       const Offset* offsets, Output* output, int64 batch, int64 first_block,
                       BadIdReport* report) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();

  const int thread = (int)threadIdx.x;
  const int group = thread / group_lanes;
  const int in_group = thread % group_lanes;
  const Index block = (Index)first_block + (Index)blockIdx.x;

  Lane lane;
  lane.bag = block / tiles * groups_per_block + group;
  lane.tile = (int)(block % tiles);
  lane.row_lane = in_group % lanes_per_row;
  lane.bag_lane = in_group / lanes_per_row;
  lane.works = lane.bag < batch && (block_is_full || group < groups_per_block);
  // Lanes that meet others must stay; the rest may leave.
  if (bag_lanes == 1 && !lane.works) return;

  const Input in = {table, num_rows, ids, num_ids, offsets, batch, report};
  Sum sum = {};
  if (lane.works) {
    if constexpr (is_fixed) {
      add_fixed_run(sum, in, lane);
    } else {
      add_csr_run(sum, in, lane);
    }
  }
  if constexpr (bag_lanes > 1) reduce_in_warp(sum);
  if constexpr (group_lanes > 32) reduce_across_warps(sum, thread);
  if (lane.works && lane.bag_lane == 0) store_mean(sum, lane, output);
}
