// One block's work: a group of lanes_per_row * bag_lanes lanes adds what a bag's gradient gives to
// the rows of its counted ids (or clears those rows), each lane the vectors of its own columns.
// Rows are never read: an addition leaves for the L2 cache and nobody waits for it, so that what
// binds is how many of them it takes.

constexpr bool clears_rows = row_gradient == cleared_gradient;
constexpr bool numbers_rows = row_gradient == sparse_gradient;
constexpr bool steps_rows = row_gradient == applied_gradient;

// Whether ids are looked at twice: a divisor must be known before the first addition.
constexpr bool counts_first = !clears_rows && (needs_count || needs_weight_sum);
constexpr bool lanes_meet = bag_lanes > 1 && counts_first;

struct Gradients {
  const Output* output;
  char* table;
  Value factor;  // of what is added
  const uint64* marks;
  const uint32* named_before;
  int64 capacity;
};

inline Gradients gradients_of(const GradientArguments& given) {
  Gradients gradients = {(const Output*)given.output_gradient,
                         (char*)given.table_gradient,
                         1,
                         given.marks,
                         given.named_before,
                         given.capacity};
  if constexpr (steps_rows) gradients.factor = -(Value)given.parameters->learning_rate;
  return gradients;
}

// Where an id's gradient goes.
struct Place {
  uint64 address;
  bool is_wanted;
  bool is_alone;  // no other id's goes there
};

inline Place place_of(const Gradients& gradients, Id row, bool counts) {
  if constexpr (!numbers_rows) {
    return {row_address(gradients.table, row) + codes_offset, counts, false};
  } else {
    // Unsigned, since they are also computed for a bad id.
    const uint64 mark = (uint64)row / rows_of_mark;
    const auto word = load_if<8>(counts, (const void*)((uint64)gradients.marks + mark * 8));
    const auto before =
        load_if<4>(counts, (const void*)((uint64)gradients.named_before + mark * 4));
    const uint64 marks = (uint64)word.word[1] << 32 | word.word[0];
    const uint32 bit = 1u << (uint64)row % rows_of_mark;
    const uint32 place = before.word[0] + (uint32)count_bits(word.word[0] & (bit - 1));
    return {row_address(gradients.table, (Id)place), counts && place < gradients.capacity,
            (added_to_of(marks) & bit) == 0};
  }
}

// Calls `visit` with the place, the weight and whether it counts, of n ids; tells if one is bad.
template <int n, class Visit>
inline bool visit_ids(const Input& in, const Gradients& gradients, Index position,
                      const Ids<n>& ids, Visit visit) {
  bool any_is_bad = false;
  bool counts[n];
  Place place[n];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const bool is_padding = has_padding && ids.id[i] == (Id)padding_id;
    const bool is_bad = must_check && !is_padding && !is_in_table(ids.id[i], in.num_rows);
    counts[i] = ids.present[i] && !is_padding && !is_bad;
    place[i] = place_of(gradients, ids.id[i], counts[i]);
    any_is_bad |= ids.present[i] && is_bad;
  }
#pragma unroll
  for (int i = 0; i < n; ++i) {
    Value weight = 1;
    if constexpr (has_weights && !clears_rows) {
      const auto loaded =
          load_if<(int)sizeof(Weight)>(counts[i], in.weights + position + i * id_step);
      weight = (Value)element<Weight>(loaded.word, 0);
    }
    visit(place[i], weight, counts[i]);
  }
  return any_is_bad;
}

inline Ids<rest_or_1> load_rest(const Input& in, const Run& run) {
  return load_ids<rest_or_1>(in, run, true);
}

template <class Visit>
inline bool visit_run_of_one_length(const Input& in, const Gradients& gradients, const Lane& lane,
                                    Visit visit) {
  bool any_is_bad = false;
  if constexpr (run_length > 0) {
    Run run = run_of_one_length(lane);
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Ids<in_flight> ids = load_ids<in_flight>(in, run, true);
      any_is_bad |= visit_ids<in_flight>(in, gradients, run.position, ids, visit);
      run.position += in_flight;
    }
    if constexpr (rest > 0) {
      const Ids<rest_or_1> ids = load_rest(in, run);
      any_is_bad |= visit_ids<rest_or_1>(in, gradients, run.position, ids, visit);
    }
  }
  return any_is_bad;
}

template <class Visit>
inline bool visit_csr_run(const Input& in, const Gradients& gradients, const Lane& lane,
                          Visit visit) {
  const int64 begin = raw_begin_of(in, (int64)lane.row);
  const int64 end = raw_end_of(in, (int64)lane.row);
  bool is_bad = is_bad_bag(in, begin, end);
  Run run = {(Index)within_ids(in, begin) + lane.bag_lane, (Index)within_ids(in, end)};
#pragma unroll 1
  while (run.position < run.end) {
    const Ids<rows_in_flight> ids = load_ids<rows_in_flight>(in, run, true);
    is_bad |= visit_ids<rows_in_flight>(in, gradients, run.position, ids, visit);
    run.position += rows_in_flight * id_step;
  }
  return is_bad;
}

// Calls `visit` for the lane's share of the bag's ids; tells if there is bad input among them.
template <class Visit>
inline bool visit_run(const Input& in, const Gradients& gradients, const Lane& lane, Visit visit) {
  if (!lane.works) return false;
  if constexpr (has_runs_of_one_length) {
    return visit_run_of_one_length(in, gradients, lane, visit);
  } else {
    return visit_csr_run(in, gradients, lane, visit);
  }
}

template <int n, int alignment>
inline void give(uint64 address, bool is_alone, const Value* value) {
  if constexpr (clears_rows) {
    const Value zeros[n] = {};
    store_as<Table, n, alignment>((Table*)address, zeros);
  } else if (numbers_rows && is_alone) {
    store_as<Table, n, alignment>((Table*)address, value);
  } else {
    add_to_memory<Table, n, alignment>((Table*)address, value);
  }
}

inline void add_to_row(const Place& place, const Lane& lane, Value factor, const Share& share) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    if (!lane.has_vector(v)) continue;
    Value value[elements];
#pragma unroll
    for (int e = 0; e < elements; ++e) value[e] = factor * share.value[v][e];
    give<elements, vector_bytes>(place.address + lane.vector(v) * vector_bytes, place.is_alone,
                                 value);
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
        const Place place = place_of(gradients, winner, true);
        if (!place.is_wanted) continue;
        const Value value =
            gradients.factor * (Value)element<Output>(gradient.vector[p][v].word, e);
        give<1, (int)sizeof(Table)>(place.address + column * (int)sizeof(Table), place.is_alone,
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
    visit_all([&](const Place&, Value weight, bool counts) {
      counted.count += counts ? 1 : 0;
      counted.weight_sum += counts ? weight : (Value)0;
    });
    if constexpr (lanes_meet) merge_counted<lanes_per_row, group_lanes>(counted);
  }
  bool met_bad_input = false;
  if constexpr (needs_sum) {
    const Share share = share_of(gradient, counted);
    met_bad_input = visit_all([&](const Place& place, Value weight, bool) {
      if (place.is_wanted) add_to_row(place, lane, gradients.factor * weight, share);
    });
  } else if constexpr (bad_ids == report_ids) {
    met_bad_input = visit_all([](const Place&, Value, bool) {});
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
      scatter_bag(in, gradients, lane, gradient, [&](auto visit) {
        return visit_ids<in_flight>(in, gradients, position, ids, visit);
      });
    } else {
      const OutputGradient gradient = load_output_gradient(gradients.output, lane, !clears_rows);
      scatter_bag(in, gradients, lane, gradient,
                  [&](auto visit) { return visit_run(in, gradients, lane, visit); });
    }
  }
}
