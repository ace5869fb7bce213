// One block's work: a group of lanes_per_row * bag_lanes lanes of one warp gathers a bag's rows, as
// forward does, and writes for each id the product of its row and what the bag passes on of its
// output's gradient. A row wider than the group holds is multiplied tile by tile.

static_assert(has_weights && needs_sum && !keeps_rows && has_winners == has_pooling(max_pooling),
              "the spec is validated");
static_assert(32 % group_lanes == 0, "the lanes of a group meet in shuffles alone");

// None where rows have no columns: every product is 0.
constexpr int tiles = (vectors_per_row + vectors_per_tile - 1) / vectors_per_tile;
// Lanes that meet others must stay.
constexpr bool lanes_meet = group_lanes > 1;
// A bag whose rows a lane holds all at once is gathered once, however often it is looked at.
constexpr bool holds_bag = gathers_at_once && tiles == 1;

// The lane's part of the products of n rows.
template <int n>
struct Products {
  Value value[n];
  Value weight[n];
  bool counted[n];
  bool any_is_bad;
};

template <int n>
inline void add_products(Products<n>& products, const Lane& lane, const Rows<n>& rows,
                         const Share& share) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    Value scale = 1;
    Value bias = 0;
    if constexpr (has_scale) {
      scale = element<Scale>(rows.scale[i].word, 0);
      if constexpr (has_bias) bias = element<Scale>(rows.scale[i].word, 1);
    }
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      if (!lane.has_vector(v)) continue;
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        if (!lane.has_column(v, e)) continue;
        Value value = element<Table>(rows.vector[i][v].word, e);
        if constexpr (has_scale) value = has_bias ? scale * value + bias : scale * value;
        products.value[i] += value * share.value[v][e];
      }
    }
    products.weight[i] = (Value)element<Weight>(rows.weight[i].word, 0);
    products.counted[i] = rows.counted[i];
  }
  products.any_is_bad = rows.any_is_bad;
}

// `rows_in` gives the rows' vectors in a lane's tile, `share_in` what they are multiplied by.
template <int n, class RowsIn, class ShareIn>
inline Products<n> multiply(const Ids<n>&, Lane lane, RowsIn rows_in, ShareIn share_in) {
  Products<n> products = {};
#pragma unroll 1
  for (lane.tile = 0; lane.tile < tiles; ++lane.tile) {
    add_products<n>(products, lane, rows_in(lane), share_in(lane));
  }
  return products;
}

// Where the lane's share of a bag's ids is.
struct Bag {
  Run run;
  bool is_bad;
};

inline Bag bag_of(const Input& in, const Lane& lane) {
  if constexpr (is_fixed) {
    return {run_of_one_length(lane), false};
  } else {
    if (!lane.works) return {};
    const int64 begin = raw_begin_of(in, (int64)lane.row);
    const int64 end = raw_end_of(in, (int64)lane.row);
    return {{(Index)within_ids(in, begin) + lane.bag_lane, (Index)within_ids(in, end)},
            is_bad_bag(in, begin, end)};
  }
}

inline Ids<rest_or_1> load_rest(const Input& in, const Lane& lane, const Run& run) {
  return load_ids<rest_or_1>(in, run, lane.works);
}

// Not in place, so that a kernel of bags without ids names what it takes to load a row, too.
inline Rows<in_flight> load_whole_bag(const Input& in, const Lane& lane, const Run& run,
                                      const Ids<in_flight>& ids) {
  return load_rows<in_flight>(in, lane, run.position, ids);
}

// In both loops the ids of the next chunk are on their way while the rows of this one are.
template <class Visit>
inline void visit_run_of_one_length(const Input& in, const Lane& lane, Run run, Visit visit) {
  if constexpr (run_length > 0) {
    Ids<in_flight> ids = load_ids<in_flight>(in, run, lane.works);
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Run here = run;
      const Ids<in_flight> ids_here = ids;
      run.position += in_flight;
      if (chunk + 1 < chunks) ids = load_ids<in_flight>(in, run, lane.works);
      visit(here, ids_here);
    }
    if constexpr (rest > 0) visit(run, load_rest(in, lane, run));
  }
}

// All lanes of a warp go round as often as the one with the most ids.
template <class Visit>
inline void visit_csr_run(const Input& in, const Lane& lane, Run run, Visit visit) {
  const auto anyone_has_more = [&] {
    const bool has_more = lane.works && run.position < run.end;
    return lanes_meet ? ballot(has_more) != 0 : has_more;
  };
  Ids<rows_in_flight> ids = load_ids<rows_in_flight>(in, run, lane.works);
#pragma unroll 1
  while (anyone_has_more()) {
    const Run here = run;
    const Ids<rows_in_flight> ids_here = ids;
    // Not beyond the end: a position of 32 bits could come round.
    if (run.position < run.end) run.position += rows_in_flight * id_step;
    ids = load_ids<rows_in_flight>(in, run, lane.works);
    visit(here, ids_here);
  }
}

// Calls `visit` with each chunk of the lane's share of the bag's ids.
template <class Visit>
inline void visit_run(const Input& in, const Lane& lane, const Run& run, Visit visit) {
  if constexpr (is_fixed) {
    visit_run_of_one_length(in, lane, run, visit);
  } else {
    visit_csr_run(in, lane, run, visit);
  }
}

// What must be known of a bag before its first product can be written.
struct Whole {
  Counted counted;
  Value pull;  // of mean_by_weights on all weights alike, for its divisor is their sum
};

template <int n>
inline void count(Whole& whole, const Input& in, const Ids<n>& ids) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const bool is_padding = has_padding && ids.id[i] == (Id)padding_id;
    const bool is_bad = must_check && !is_padding && !is_in_table(ids.id[i], in.num_rows);
    whole.counted.count += ids.present[i] && !is_padding && !is_bad ? 1 : 0;
  }
}

template <int n>
inline void add_weighted(Whole& whole, const Products<n>& products) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    if (!products.counted[i]) continue;
    whole.counted.weight_sum += products.weight[i];
    whole.pull += products.weight[i] * products.value[i];
  }
}

// Adds up what a group's lanes have; afterwards each has the whole.
inline void merge_in_group(Whole& whole) {
  if constexpr (needs_count || needs_weight_sum) {
    merge_counted<lanes_per_row, group_lanes>(whole.counted);
  }
  if constexpr (needs_weight_sum) {
#pragma unroll
    for (int mask = 1; mask < group_lanes; mask *= 2) whole.pull += shuffle_xor(whole.pull, mask);
    whole.pull = whole.pull / whole.counted.weight_sum / whole.counted.weight_sum;
  }
}

// Adds up n values over the lanes of a row. While the number of values is even, each step gives
// half of them away to the lane that it takes the other half from: half the shuffles at each step.
template <int n>
struct RowSums {
  static constexpr int halvings() {
    int steps = 0;
    for (int left = n; left % 2 == 0 && 1 << steps < lanes_per_row; left /= 2) ++steps;
    return steps;
  }
  static constexpr int kept = n >> halvings();

  Value value[n];
  int first;           // value[0] to value[kept - 1] are those of the rows from here on
  bool is_first_lane;  // of those that have them

  inline void add_up(int row_lane) {
    first = 0;
    is_first_lane = row_lane >> halvings() == 0;
#pragma unroll
    for (int step = 0; step < halvings(); ++step) {
      const int half = n >> (step + 1);
      const bool takes_upper = (row_lane >> step) % 2 == 1;
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const Value given = takes_upper ? value[i] : value[half + i];
        value[i] = (takes_upper ? value[half + i] : value[i]) + shuffle_xor(given, 1 << step);
      }
      first += takes_upper ? half : 0;
    }
#pragma unroll
    for (int mask = 1 << halvings(); mask < lanes_per_row; mask *= 2) {
#pragma unroll
      for (int i = 0; i < kept; ++i) value[i] += shuffle_xor(value[i], mask);
    }
  }
};

template <int n>
inline void write_products(WeightGradient* to, const Lane& lane, const Run& run,
                           const Products<n>& products, Value pull) {
  RowSums<n> sums;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    // By one of the row's lanes.
    const Value pulled_by = needs_weight_sum && lane.row_lane == 0 ? pull : (Value)0;
    sums.value[i] = products.counted[i] ? products.value[i] - pulled_by : (Value)0;
  }
  sums.add_up(lane.row_lane);
#pragma unroll
  for (int i = 0; i < RowSums<n>::kept; ++i) {
    const Index position = run.position + (sums.first + i) * id_step;
    if (lane.works && sums.is_first_lane && position < run.end) {
      store_as<WeightGradient, 1, (int)sizeof(WeightGradient)>(to + position, sums.value + i);
    }
  }
}

struct Gradients {
  const Output* output;
  WeightGradient* weights;
};

// The output's gradient of the mean by weights alone, undivided.
inline Share share_by_weights(const OutputGradient& gradient) {
  Share share = {};
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) {
    if (pooling_at(p) == mean_by_weights_pooling) add_to_share(share, gradient, p, 1);
  }
  return share;
}

// Gives what `make` makes of the gradient in a lane's tile. Of the only tile it is made once.
template <class Make>
inline auto share_in_tile(const Gradients& gradients, const OutputGradient& in_only_tile,
                          Make make) {
  if constexpr (tiles == 1) {
    return [share = make(in_only_tile)](const Lane&) -> const Share& { return share; };
  } else {
    return [&gradients, make](const Lane& lane) {
      return make(load_output_gradient(gradients.output, lane, true));
    };
  }
}

// `visit_all` calls a visitor with each chunk of the lane's ids and what gives their rows.
template <class VisitAll>
inline Whole whole_of(const Input& in, const Lane& lane, const Gradients& gradients,
                      const OutputGradient& in_only_tile, VisitAll visit_all) {
  Whole whole = {};
  if constexpr (needs_weight_sum) {
    const auto share_in =
        share_in_tile(gradients, in_only_tile,
                      [](const OutputGradient& gradient) { return share_by_weights(gradient); });
    visit_all([&](const Run&, const auto& ids, auto rows_in) {
      count(whole, in, ids);
      add_weighted(whole, multiply(ids, lane, rows_in, share_in));
    });
  } else if constexpr (needs_count) {
    visit_all([&](const Run&, const auto& ids, auto) { count(whole, in, ids); });
  }
  merge_in_group(whole);
  return whole;
}

template <class VisitAll>
inline void write_bag(const Input& in, const Lane& lane, const Gradients& gradients, bool is_bad,
                      VisitAll visit_all) {
  OutputGradient in_only_tile;
  if constexpr (tiles == 1) in_only_tile = load_output_gradient(gradients.output, lane, true);
  const Whole whole = whole_of(in, lane, gradients, in_only_tile, visit_all);
  const auto share_in = share_in_tile(gradients, in_only_tile, [&](const OutputGradient& gradient) {
    return share_of(gradient, whole.counted);
  });
  visit_all([&](const Run& run, const auto& ids, auto rows_in) {
    const auto products = multiply(ids, lane, rows_in, share_in);
    write_products(gradients.weights, lane, run, products, whole.pull);
    is_bad |= products.any_is_bad;
  });
  if (bad_ids == report_ids && is_bad && lane.row_lane == 0) report_row(in, (int64)lane.row);
}

// The bags from `first` to before `end` that are this block's share.
inline void write_bags(const Input& in, const Gradients& gradients, Index first, Index end) {
  const int thread = (int)threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < bags_per_group; ++i) {
    const Lane lane =
        lane_of_group(in, first, end, 0, thread / group_lanes, thread % group_lanes, i);
    if (!lanes_meet && !lane.works) continue;
    const Bag bag = bag_of(in, lane);
    if constexpr (holds_bag) {
      const Ids<in_flight> ids = load_ids<in_flight>(in, bag.run, lane.works);
      const Rows<in_flight> rows = load_whole_bag(in, lane, bag.run, ids);
      const auto held = [all = &rows](const Lane&) -> const Rows<in_flight>& { return *all; };
      write_bag(in, lane, gradients, bag.is_bad, [&](auto visit) { visit(bag.run, ids, held); });
    } else {
      write_bag(in, lane, gradients, bag.is_bad, [&](auto visit) {
        visit_run(in, lane, bag.run, [&](const Run& run, const auto& ids) {
          visit(run, ids, [&](const Lane& at) { return load_rows(in, at, run.position, ids); });
        });
      });
    }
  }
}
