// What becomes of a row's gradient: it is added to a dense one, written to a sparse one, or used up
// by an optimizer's step. A group of lanes has the row, each lane the vectors of its own columns.
// Nobody else reads or writes that row while the kernel runs, so that what is there may be loaded
// early, for many rows at once.

constexpr bool reads_row = row_gradient != sparse_gradient;
constexpr int moment_alignment = greatest_common_divisor(16, dim % 4 * 4);
constexpr int moment_bytes = elements * 4;

struct RowGradients {
  char* rows;
  float* first_moment;
  float* second_moment;
  int64 capacity;
  Step step;
};

inline RowGradients row_gradients_of(const RowGradientArguments& arguments) {
  return {(char*)arguments.rows, arguments.first_moment, arguments.second_moment,
          arguments.capacity, step_of(arguments.parameters)};
}

// A row's gradient: the lane's columns of the sum over its uses.
struct RowGradient {
  Value value[vectors_per_lane][elements];
};

// A row as it is before, and its moments.
struct RowBefore {
  Loaded<vector_bytes> vector[vectors_per_lane];
  Loaded<moment_bytes> first[has_first_moment ? vectors_per_lane : 1];
  Loaded<moment_bytes> second[has_second_moment ? vectors_per_lane : 1];
  Loaded<4> of_row;
};

inline uint64 vector_address(const RowGradients& to, const Lane& lane, uint32 row, int v) {
  return row_address(to.rows, (Id)row) + codes_offset + lane.vector(v) * vector_bytes;
}
inline float* moment_address(float* moments, const Lane& lane, uint32 row, int v) {
  return moments + (int64)row * dim + lane.vector(v) * elements;
}

inline RowBefore load_row(const RowGradients& to, const Lane& lane, bool is_wanted, uint32 row) {
  RowBefore before;
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    const bool is_mine = is_wanted && lane.has_vector(v);
    if constexpr (reads_row) {
      before.vector[v] =
          load_if<vector_bytes>(is_mine, (const void*)vector_address(to, lane, row, v));
    }
    if constexpr (has_first_moment) {
      before.first[v] = load_aligned_if<moment_bytes, moment_alignment>(
          is_mine, moment_address(to.first_moment, lane, row, v));
    }
    if constexpr (has_second_moment) {
      before.second[v] = load_aligned_if<moment_bytes, moment_alignment>(
          is_mine, moment_address(to.second_moment, lane, row, v));
    }
  }
  if constexpr (has_row_moment) before.of_row = load_if<4>(is_wanted, to.second_moment + row);
  return before;
}

// The sum over the lanes of the group; all lanes of the warp must call it.
inline Value sum_over_row(Value value) {
#pragma unroll
  for (int mask = 1; mask < lanes_per_row; mask *= 2) value += shuffle_xor(value, mask);
  return value;
}

inline Value sum_of_squares(const RowGradient& gradient) {
  Value sum = 0;
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) sum += gradient.value[v][e] * gradient.value[v][e];
  }
  return sum_over_row(sum);
}

inline void clip(RowGradient& gradient, Value max_norm) {
  if (!(max_norm > 0)) return;
  const Value norm = square_root(sum_of_squares(gradient));
  if (!(norm > max_norm)) return;
  const Value scale = max_norm / norm;
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) gradient.value[v][e] *= scale;
  }
}

inline void decay(RowGradient& gradient, const RowBefore& before, Value by) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      gradient.value[v][e] += by * (Value)element<Table>(before.vector[v].word, e);
    }
  }
}

inline void round_at_random(const RowGradients& to, uint32 row, int first_column, Value* x) {
  if constexpr (stochastic_rounding) {
    Random random = random_of_columns(to.step, row, first_column);
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const int column = first_column + e;
      if (e > 0 && column % 8 == 0) random = random_of_columns(to.step, row, column);
      x[e] = rounded_at_random<Table>((float)x[e], random_of_column(random, column));
    }
  }
}

template <int bytes>
inline Value moment(const Loaded<bytes>& loaded, int e) {
  return (Value)float_from_bits(loaded.word[e]);
}

inline void step_row(const RowGradients& to, const Lane& lane, bool is_wanted, uint32 row,
                     RowGradient& gradient, const RowBefore& before) {
  clip(gradient, to.step.max_norm);
  decay(gradient, before, to.step.decay);
  Value of_row = 0;
  if constexpr (has_row_moment) {
    constexpr Value columns = dim == 0 ? 1 : dim;
    of_row = moment(before.of_row, 0) + sum_of_squares(gradient) / columns;
    if (is_wanted && lane.row_lane == 0) to.second_moment[row] = (float)of_row;
  }
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    if (!is_wanted || !lane.has_vector(v)) continue;
    Value x[elements];
    Value first[elements];
    Value second[elements];
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      Moments moments = {0, 0, of_row};
      if constexpr (has_first_moment) moments.first = moment(before.first[v], e);
      if constexpr (has_second_moment) moments.second = moment(before.second[v], e);
      x[e] = (Value)element<Table>(before.vector[v].word, e) -
             difference<optimizer>(to.step, gradient.value[v][e], moments);
      first[e] = moments.first;
      second[e] = moments.second;
    }
    round_at_random(to, row, lane.vector(v) * elements, x);
    store_as<Table, elements, vector_bytes>((Table*)vector_address(to, lane, row, v), x);
    if constexpr (has_first_moment) {
      store_as<float, elements, moment_alignment>(moment_address(to.first_moment, lane, row, v),
                                                  first);
    }
    if constexpr (has_second_moment) {
      store_as<float, elements, moment_alignment>(moment_address(to.second_moment, lane, row, v),
                                                  second);
    }
  }
}

inline void write_row(const RowGradients& to, const Lane& lane, uint32 at, RowGradient& gradient,
                      const RowBefore& before) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    if (!lane.has_vector(v)) continue;
    if constexpr (row_gradient == dense_gradient) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        gradient.value[v][e] += (Value)element<Table>(before.vector[v].word, e);
      }
    }
    store_as<Table, elements, vector_bytes>((Table*)vector_address(to, lane, at, v),
                                            gradient.value[v]);
  }
}

// `place` is the row's among those that have a gradient. Where rows are stepped all lanes of the
// warp must call it; the row is only written where it is wanted.
inline void give_row(const RowGradients& to, const Lane& lane, bool is_wanted, uint32 row,
                     uint32 place, RowGradient& gradient, const RowBefore& before) {
  if constexpr (row_gradient == applied_gradient) {
    step_row(to, lane, is_wanted, row, gradient, before);
  } else if constexpr (row_gradient == sparse_gradient) {
    if (is_wanted && place < to.capacity) write_row(to, lane, place, gradient, before);
  } else {
    if (is_wanted) write_row(to, lane, row, gradient, before);
  }
}
