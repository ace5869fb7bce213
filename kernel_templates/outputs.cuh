// From a whole pool to the output.

// Fields are shared between the poolings of a bag.
struct Divisors {
  Value by_count;
  Value by_sqrt;
  bool nothing_counted;
};

inline Divisors divisors_of(const Pool& pool) {
  Divisors divisors = {};
  divisors.nothing_counted = pool.count == 0;
  const Value count = (Value)(divisors.nothing_counted ? 1 : pool.count);
  if constexpr (has_pooling(mean_pooling)) divisors.by_count = reciprocal(count);
  if constexpr (has_pooling(mean_by_sqrt_pooling)) {
    divisors.by_sqrt = (Value)1 / square_root(count);
  }
  return divisors;
}

inline Value pooled(const Pool& pool, const Divisors& divisors, int pooling, int v, int e) {
  switch (pooling) {
    case mean_pooling:
      return pool.sum[v][e] * divisors.by_count;
    case mean_by_sqrt_pooling:
      return pool.sum[v][e] * divisors.by_sqrt;
    case mean_by_length_pooling:
      return pool.sum[v][e] * ((Value)1 / (Value)mean_length);
    case mean_by_weights_pooling:
      return divisors.nothing_counted ? (Value)0 : pool.sum[v][e] / pool.weight_sum;
    case max_pooling:
      return divisors.nothing_counted ? (Value)0 : pool.max[v][e];
    default:
      return pool.sum[v][e];
  }
}

constexpr bool rows_meet = has_row_sum && lanes_per_row > 1;

// The lane's part of a pooled vector, after the caller's own end.
struct Vector {
  Value value[vectors_per_lane][elements];
};

inline Value row_sum_of(const Vector& x, const Input& in, const Lane& lane, int count, int p) {
  Value sum = 0;
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const int column = lane.vector(v) * elements + e;
      if (lane.has_vector(v) && lane.has_column(v, e)) {
        sum += end_row_sum(x.value[v][e], column, (int64)lane.row, count, p, in.end_parameters);
      }
    }
  }
#pragma unroll
  for (int mask = 1; mask < lanes_per_row; mask *= 2) sum += shuffle_xor(sum, mask);
  return sum;
}

inline void store_vector(Output* to, const Lane& lane, int v, const Value* value) {
  if constexpr (last_vector_is_full) {
    store_as<Output, elements, output_vector_alignment>(to, value);
  } else {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      if (lane.has_column(v, e)) store_as<Output, 1, (int)sizeof(Output)>(to + e, value + e);
    }
  }
}

inline void store_winners(const Pool& pool, const Input& in, const Lane& lane) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      if (!lane.has_vector(v) || !lane.has_column(v, e)) continue;
      const Index position = pool.winner[v][e];
      in.winners[lane.row * dim + lane.vector(v) * elements + e] =
          position == no_position ? (Id)-1 : in.ids[position];
    }
  }
}

// All lanes that meet for a sum over the row must call it; only those with `stores` write.
inline void store_pool(const Pool& pool, const Input& in, const Lane& lane, bool stores) {
  const Divisors divisors = divisors_of(pool);
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) {
    Vector x;
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        x.value[v][e] = pooled(pool, divisors, pooling_at(p), v, e);
      }
    }
    Value row_sum = 0;
    if constexpr (has_row_sum) row_sum = row_sum_of(x, in, lane, pool.count, p);
    if (!stores) continue;
    Output* const to = in.output + lane.row * output_stride + p * dim;
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      if (!lane.has_vector(v)) continue;
      const int column = lane.vector(v) * elements;
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        if (!lane.has_column(v, e)) continue;
        x.value[v][e] = end_element(x.value[v][e], column + e, (int64)lane.row, pool.count, p,
                                    in.end_parameters, row_sum);
      }
      store_vector(to + column, lane, v, x.value[v]);
    }
  }
  if (has_winners && stores) store_winners(pool, in, lane);
}
