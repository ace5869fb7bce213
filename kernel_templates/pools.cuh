// What a lane has of a bag so far, how a row is added and how the shares of several lanes meet.

constexpr bool needs_max = has_pooling(max_pooling);
constexpr Index no_position = (Index)-1;

struct Pool {
  Value sum[vectors_per_lane][elements];
  Value max[vectors_per_lane][elements];
  Index winner[vectors_per_lane][elements];  // the position of the id whose row is the largest
  Value weight_sum;
  int count;
  bool met_bad_input;  // this lane's share of the bag alone
};

inline Pool empty_pool() {
  Pool pool = {};
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      pool.max[v][e] = -(Value)float_from_bits(0x7f800000u);
      pool.winner[v][e] = no_position;
    }
  }
  return pool;
}

// A NaN is larger than any number, and the first of equals stays.
inline bool is_larger(Value value, Value than) {
  return !(value <= than) && than == than;
}

inline void take_larger(Pool& pool, int v, int e, Value value, Index position) {
  if constexpr (has_winners) {
    const bool is_first = pool.winner[v][e] == no_position;
    if (is_first || is_larger(value, pool.max[v][e])) {
      pool.max[v][e] = value;
      pool.winner[v][e] = position;
    }
  } else {
    if (is_larger(value, pool.max[v][e])) pool.max[v][e] = value;
  }
}

template <int n>
inline void add(Pool& pool, const Rows<n>& rows) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    Value scale = 1;
    Value bias = 0;
    if constexpr (has_scale) {
      scale = element<Scale>(rows.scale[i].word, 0);
      if constexpr (has_bias) bias = element<Scale>(rows.scale[i].word, 1);
    }
    Value weight = 1;
    if constexpr (has_weights) weight = (Value)element<Weight>(rows.weight[i].word, 0);
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        Value value = element<Table>(rows.vector[i][v].word, e);
        if constexpr (has_scale) value = has_bias ? scale * value + bias : scale * value;
        if constexpr (keeps_rows) {
          pool.sum[v][e] = value;  // as it is: a sum would make 0 of -0
        } else if constexpr (needs_sum) {
          // What was not loaded is zeros.
          pool.sum[v][e] += has_weights ? weight * value : value;
        }
        if constexpr (needs_max) {
          if (rows.counted[i]) take_larger(pool, v, e, value, rows.position + i * id_step);
        }
      }
    }
    if constexpr (needs_weight_sum) pool.weight_sum += rows.counted[i] ? weight : (Value)0;
    pool.count += rows.counted[i] ? 1 : 0;
  }
  if (bad_ids == report_ids) pool.met_bad_input |= rows.any_is_bad;
}

// Calls `visit` for each value of the pool that is in use.
template <class Visitor>
inline void for_each_value(Pool& pool, Visitor visit) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      if constexpr (needs_sum) visit(pool.sum[v][e]);
      if constexpr (needs_max) visit(pool.max[v][e]);
      if constexpr (has_winners) visit(pool.winner[v][e]);
    }
  }
  if constexpr (needs_weight_sum) visit(pool.weight_sum);
  visit(pool.count);
}

inline void merge(Pool& pool, const Pool& other) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      pool.sum[v][e] += other.sum[v][e];
      if constexpr (has_winners) {
        // In the order of the bag: whoever stands first keeps its place among equals.
        if (other.winner[v][e] == no_position) continue;
        const bool comes_first = other.winner[v][e] < pool.winner[v][e];
        const bool is_equal = !is_larger(other.max[v][e], pool.max[v][e]) &&
                              !is_larger(pool.max[v][e], other.max[v][e]);
        if (is_larger(other.max[v][e], pool.max[v][e]) || pool.winner[v][e] == no_position ||
            (is_equal && comes_first)) {
          pool.max[v][e] = other.max[v][e];
          pool.winner[v][e] = other.winner[v][e];
        }
      } else if constexpr (needs_max) {
        if (is_larger(other.max[v][e], pool.max[v][e])) pool.max[v][e] = other.max[v][e];
      }
    }
  }
  pool.weight_sum += other.weight_sum;
  pool.count += other.count;
}

// Merges the pools of the bag lanes of a warp; afterwards each of them has the whole.
inline void merge_in_warp(Pool& pool) {
#pragma unroll
  for (int mask = lanes_per_row; mask < group_lanes && mask < 32; mask *= 2) {
    Pool other = pool;
    for_each_value(other, [&](auto& value) { value = shuffle_xor(value, mask); });
    merge(pool, other);
  }
}

constexpr int warps_per_group = group_lanes <= 32 ? 1 : group_lanes / 32;
constexpr int pool_words =
    vectors_per_lane * elements *
        ((needs_sum ? words_of<Value> : 0) + (needs_max ? words_of<Value> : 0) +
         (has_winners ? words_of<Index> : 0)) +
    (needs_weight_sum ? words_of<Value> : 0) + 1;
constexpr int shared_words =
    warps_per_group == 1 ? 0 : block_threads / 32 * pool_words * lanes_per_row;

// Merges the pools of a group's warps; afterwards the first warp of the group has the whole.
inline void merge_across_warps(Pool& pool, int thread, uint32* shared) {
  const int warp = thread / 32;
  const int in_warp = thread % 32;
  const auto place = [&](int of_warp, int word) -> uint32& {
    return shared[(of_warp * pool_words + word) * lanes_per_row + in_warp];
  };
  if (bags_per_group > 1) block_barrier();  // until the bag before this one has been read
  if (in_warp < lanes_per_row) {
    int word = 0;
    for_each_value(pool, [&](auto& value) {
      for (int i = 0; i < (int)sizeof(value) / 4; ++i) place(warp, word++) = word_of(value, i);
    });
  }
  block_barrier();
  if (warp % warps_per_group != 0 || in_warp >= lanes_per_row) return;
#pragma unroll 1
  for (int other_warp = 1; other_warp < warps_per_group; ++other_warp) {
    Pool other = empty_pool();
    int word = 0;
    for_each_value(other, [&](auto& value) {
      uint32 words[2];
      for (int i = 0; i < (int)sizeof(value) / 4; ++i) words[i] = place(warp + other_warp, word++);
      from_words(value, words);
    });
    merge(pool, other);
  }
}
