// One group's work: it sums the gradients of a slice's uses, row by row, as many in flight as
// rows_in_flight says. No lane leaves before all of its warp do, since rows may need sums over
// their lanes.

constexpr int at_once = rows_in_flight;
constexpr bool needs_shares = needs_count || needs_weight_sum;
constexpr int share_bytes = elements * (int)sizeof(Output);

inline uint32 unit_of(const SortedUses& uses, uint32 position) {
  if constexpr (keeps_rows) return position;
  if constexpr (is_fixed) return bag_size > 0 ? position / (uint32)bag_size : 0;
  return (uint32)uses.bags[position];
}

// Some consecutive uses, and the one after them.
struct Batch {
  uint32 row[at_once + 1];
  bool is_mine[at_once + 1];
  uint32 position[at_once];
  uint32 unit[at_once];
};

inline bool is_mine(const SortedUses& uses, const Slice& slice, uint32 at, uint32 row) {
  if (row == no_row) return false;
  if (at >= slice.end) return slice.reads_on && row == slice.last_row;
  return !(slice.skips_first && row == slice.first_row);
}

inline Batch load_batch(const SortedUses& uses, const Slice& slice, uint32 at) {
  Batch batch;
#pragma unroll
  for (int u = 0; u <= at_once; ++u) {
    const bool can_be = at + u < slice.end || slice.reads_on;
    batch.row[u] = can_be ? row_at(uses, (int64)at + u) : no_row;
    batch.is_mine[u] = is_mine(uses, slice, at + u, batch.row[u]);
  }
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    batch.position[u] = batch.is_mine[u] ? uses.positions[at + u] : 0;
  }
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    batch.unit[u] = batch.is_mine[u] ? unit_of(uses, batch.position[u]) : 0;
  }
  return batch;
}

inline Value weight_of(const Input& in, const Batch& batch, int u) {
  if constexpr (!has_weights) return 1;
  const auto loaded = load_if<(int)sizeof(Weight)>(batch.is_mine[u], in.weights + batch.position[u]);
  return (Value)element<Weight>(loaded.word, 0);
}

inline Value share_of(const SortedUses& uses, const Batch& batch, int u, int p) {
  if constexpr (needs_shares) {
    if (!batch.is_mine[u]) return 0;
    return ((const Value*)uses.shares)[(int64)batch.unit[u] * num_poolings + p];
  } else {
    return passed_on(pooling_at(p), Counted{});
  }
}

// Adds one pooling's gradients to those of the uses.
inline void add_pooling(const Input& in, const SortedUses& uses, const Output* gradient,
                        const Lane& lane, const Batch& batch, int p, const Value* weight,
                        RowGradient* of_use) {
  Loaded<share_bytes> loaded[at_once][vectors_per_lane];
  Value share[at_once];
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    const Output* const of_unit = gradient + (int64)batch.unit[u] * output_stride + p * dim;
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      loaded[u][v] = load_aligned_if<share_bytes, output_vector_alignment>(
          batch.is_mine[u] && lane.has_vector(v), of_unit + lane.vector(v) * elements);
    }
    share[u] = weight[u] * share_of(uses, batch, u, p);
  }
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        of_use[u].value[v][e] += share[u] * (Value)element<Output>(loaded[u][v].word, e);
      }
    }
  }
}

// Of a maximum a row has the columns that it won, once for each bag: an id that comes again in its
// bag is the next use of its row.
inline void add_won(const Input& in, const SortedUses& uses, const Output* gradient,
                    const Lane& lane, const Batch& batch, uint32 at, int p, RowGradient* of_use) {
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    if (!batch.is_mine[u]) continue;
    const int64 before = (int64)at + u - 1;
    const bool comes_again = row_at(uses, before) == batch.row[u] &&
                             unit_of(uses, uses.positions[before]) == batch.unit[u];
    if (comes_again) continue;
    const int64 unit = batch.unit[u];
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      if (!lane.has_vector(v)) continue;
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        const int column = lane.vector(v) * elements + e;
        if (in.winners[unit * dim + column] != (Id)batch.row[u]) continue;
        const auto loaded =
            load_if<(int)sizeof(Output)>(true, gradient + unit * output_stride + p * dim + column);
        of_use[u].value[v][e] += (Value)element<Output>(loaded.word, 0);
      }
    }
  }
}

inline void add_to(RowGradient& sum, const RowGradient& value) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) sum.value[v][e] += value.value[v][e];
  }
}

inline void store_piece(const SortedUses& uses, const Lane& lane, int64 slice, bool is_last,
                        const RowGradient& sum) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    if (!lane.has_vector(v)) continue;
    store_as<Value, elements, piece_alignment>(piece_address(uses, lane, slice, is_last, v),
                                               sum.value[v]);
  }
}

inline void reduce_slice(const Input& in, const SortedUses& uses, const Output* gradient,
                         const RowGradients& to, const Lane& lane, int64 number) {
  const Slice slice = slice_of(uses, number);
  uint32 row_before = slice.begin > 0 ? row_at(uses, (int64)slice.begin - 1) : no_row;
  bool was_mine = false;
  RowGradient last = {};  // of the use before
  uint32 place = row_gradient == sparse_gradient && slice.begin < slice.end
                     ? uses.rows_before[number] - 1
                     : 0;
  uint32 at = slice.begin;
  bool has_more = slice.begin < slice.end;
#pragma unroll 1
  while (ballot(has_more) != 0) {
    const Batch batch = load_batch(uses, slice, at);
    Value weight[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) weight[u] = weight_of(in, batch, u);
    RowGradient sum[at_once] = {};
#pragma unroll
    for (int p = 0; p < num_poolings; ++p) {
      if (pooling_at(p) == max_pooling) {
        add_won(in, uses, gradient, lane, batch, at, p, sum);
      } else {
        add_pooling(in, uses, gradient, lane, batch, p, weight, sum);
      }
    }
    uint32 places[at_once];
    bool ends[at_once];
    bool is_piece[at_once];
    RowBefore before[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const uint32 row = batch.row[u];
      const bool goes_on = was_mine && row_before == row;
      if (batch.is_mine[u] && goes_on) add_to(sum[u], u == 0 ? last : sum[u == 0 ? 0 : u - 1]);
      if (batch.is_mine[u] && row_before != row) ++place;
      places[u] = place;
      ends[u] = batch.is_mine[u] && !(batch.is_mine[u + 1] && batch.row[u + 1] == row);
      is_piece[u] = (slice.first_is_piece && row == slice.first_row) ||
                    (slice.last_is_piece && row == slice.last_row);
      before[u] = load_row(to, lane, ends[u] && !is_piece[u], row);
      row_before = row;
      was_mine = batch.is_mine[u];
    }
    last = sum[at_once - 1];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      if (ends[u] && is_piece[u]) {
        const bool is_last = !(slice.first_is_piece && batch.row[u] == slice.first_row);
        store_piece(uses, lane, number, is_last, sum[u]);
      }
      give_row(to, lane, ends[u] && !is_piece[u], batch.row[u], places[u], sum[u], before[u]);
    }
    at += at_once;
    has_more = at < slice.end || batch.is_mine[at_once];
  }
}
