// One block's work: a group of lanes_per_row * bag_lanes lanes adds what a bag's gradient gives to
// the rows of its counted ids (or clears those rows), each lane the vectors of its own columns.
// Rows are never read: an addition leaves for the L2 cache and nobody waits for it, so that what
// binds is how many of them it takes.

// Whether ids are looked at twice: a divisor must be known before the first addition.
constexpr bool counts_first = !clears_rows && (needs_count || needs_weight_sum);
constexpr bool lanes_meet = bag_lanes > 1 && counts_first;

struct Gradients {
  const Output* output;
  char* table;
};

// Calls `visit` with the row, the weight and whether it counts, of n ids; tells if one is bad.
template <int n, class Visit>
inline bool visit_ids(const Input& in, Index position, const Ids<n>& ids, Visit visit) {
  bool any_is_bad = false;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const bool is_padding = has_padding && ids.id[i] == (Id)padding_id;
    const bool is_bad = must_check && !is_padding && !is_in_table(ids.id[i], in.num_rows);
    const bool counts = ids.present[i] && !is_padding && !is_bad;
    Value weight = 1;
    if constexpr (has_weights && !clears_rows) {
      const auto loaded = load_if<(int)sizeof(Weight)>(counts, in.weights + position + i * id_step);
      weight = (Value)element<Weight>(loaded.word, 0);
    }
    visit(ids.id[i], weight, counts);
    any_is_bad |= ids.present[i] && is_bad;
  }
  return any_is_bad;
}

inline Ids<rest_or_1> load_rest(const Input& in, const Run& run) {
  return load_ids<rest_or_1>(in, run, true);
}

template <class Visit>
inline bool visit_run_of_one_length(const Input& in, const Lane& lane, Visit visit) {
  bool any_is_bad = false;
  if constexpr (run_length > 0) {
    Run run = run_of_one_length(lane);
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Ids<in_flight> ids = load_ids<in_flight>(in, run, true);
      any_is_bad |= visit_ids<in_flight>(in, run.position, ids, visit);
      run.position += in_flight;
    }
    if constexpr (rest > 0) {
      const Ids<rest_or_1> ids = load_rest(in, run);
      any_is_bad |= visit_ids<rest_or_1>(in, run.position, ids, visit);
    }
  }
  return any_is_bad;
}

template <class Visit>
inline bool visit_csr_run(const Input& in, const Lane& lane, Visit visit) {
  const int64 begin = raw_begin_of(in, (int64)lane.row);
  const int64 end = raw_end_of(in, (int64)lane.row);
  bool is_bad = is_bad_bag(in, begin, end);
  Run run = {(Index)within_ids(in, begin) + lane.bag_lane, (Index)within_ids(in, end)};
#pragma unroll 1
  while (run.position < run.end) {
    const Ids<rows_in_flight> ids = load_ids<rows_in_flight>(in, run, true);
    is_bad |= visit_ids<rows_in_flight>(in, run.position, ids, visit);
    run.position += rows_in_flight * id_step;
  }
  return is_bad;
}

// Calls `visit` for the lane's share of the bag's ids; tells if there is bad input among them.
template <class Visit>
inline bool visit_run(const Input& in, const Lane& lane, Visit visit) {
  if (!lane.works) return false;
  if constexpr (has_runs_of_one_length) {
    return visit_run_of_one_length(in, lane, visit);
  } else {
    return visit_csr_run(in, lane, visit);
  }
}

inline uint64 row_of(const Gradients& gradients, Id row) {
  return row_address(gradients.table, row) + codes_offset;
}

template <int n, int alignment>
inline void give(uint64 address, const Value* value) {
  if constexpr (clears_rows) {
    const Value zeros[n] = {};
    store_as<Table, n, alignment>((Table*)address, zeros);
  } else {
    add_to_memory<Table, n, alignment>((Table*)address, value);
  }
}

inline void add_to_row(const Gradients& gradients, const Lane& lane, Id row, Value weight,
                       const Share& share) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    if (!lane.has_vector(v)) continue;
    Value value[elements];
#pragma unroll
    for (int e = 0; e < elements; ++e) value[e] = weight * share.value[v][e];
    give<elements, vector_bytes>(row_of(gradients, row) + lane.vector(v) * vector_bytes, value);
  }
}

// Of a maximum each element has gone to one row.
inline void add_to_winners(const Input& in, const Gradients& gradients, const Lane& lane,
                           const OutputGradient& gradient) {
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) {
    if (pooling_at(p) != max_pooling) continue;
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      if (!lane.has_vector(v)) continue;
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        const int column = lane.vector(v) * elements + e;
        const Id winner = in.winners[(int64)lane.row * dim + column];
        if (winner == (Id)-1 || (must_check && !is_in_table(winner, in.num_rows))) continue;
        const Value value = (Value)element<Output>(gradient.vector[p][v].word, e);
        give<1, (int)sizeof(Table)>(row_of(gradients, winner) + column * (int)sizeof(Table),
                                    &value);
      }
    }
  }
}

// `visit_all` calls a visitor for each of the lane's ids.
template <class VisitAll>
inline void scatter_bag(const Input& in, const Gradients& gradients, const Lane& lane,
                        const OutputGradient& gradient, VisitAll visit_all) {
  Counted counted = {};
  if constexpr (counts_first) {
    visit_all([&](Id, Value weight, bool counts) {
      counted.count += counts ? 1 : 0;
      counted.weight_sum += counts ? weight : (Value)0;
    });
    if constexpr (lanes_meet) merge_counted<lanes_per_row, group_lanes>(counted);
  }
  bool met_bad_input = false;
  if constexpr (needs_sum) {
    const Share share = share_of(gradient, counted);
    met_bad_input = visit_all([&](Id row, Value weight, bool counts) {
      if (counts) add_to_row(gradients, lane, row, weight, share);
    });
  } else if constexpr (bad_ids == report_ids) {
    met_bad_input = visit_all([](Id, Value, bool) {});
  }
  if constexpr (has_winners) {
    if (lane.works && lane.bag_lane == 0) add_to_winners(in, gradients, lane, gradient);
  }
  if (bad_ids == report_ids && met_bad_input && lane.row_lane == 0 && lane.tile == 0) {
    report_row(in, (int64)lane.row);
  }
}

// The rows of the output from `first` to before `end` that are this block's share.
inline void scatter_bags(const Input& in, const Gradients& gradients, Index first, Index end,
                         int tile) {
  const int thread = (int)threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < bags_per_group; ++i) {
    const Lane lane =
        lane_of_group(in, first, end, tile, thread / group_lanes, thread % group_lanes, i);
    // Lanes that meet others must stay.
    if (!lanes_meet && !lane.works) continue;
    if constexpr (gathers_at_once) {
      const Index position = run_of_one_length(lane).position;
      const Ids<in_flight> ids = load_ids<in_flight>(in, run_of_one_length(lane), lane.works);
      const OutputGradient gradient = load_output_gradient(gradients.output, lane, !clears_rows);
      scatter_bag(in, gradients, lane, gradient,
                  [&](auto visit) { return visit_ids<in_flight>(in, position, ids, visit); });
    } else {
      const OutputGradient gradient = load_output_gradient(gradients.output, lane, !clears_rows);
      scatter_bag(in, gradients, lane, gradient,
                  [&](auto visit) { return visit_run(in, lane, visit); });
    }
  }
}
