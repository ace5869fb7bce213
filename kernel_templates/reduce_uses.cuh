// One group's work: it sums the gradients of a slice's uses, row by row, as many in flight as
// rows_in_flight says. No lane leaves before all of its warp do, since rows may need sums over
// their lanes.

constexpr int at_once = rows_in_flight;
static_assert(chunk_uses % at_once == 0, "a chunk is summed in steps of one length");
constexpr bool needs_shares = needs_count || needs_weight_sum;
constexpr int share_bytes = elements * (int)sizeof(Output);

inline uint32 unit_of(const SortedUses& uses, uint32 position) {
  if constexpr (keeps_rows) return position;
  if constexpr (is_fixed) return bag_size > 0 ? position / (uint32)bag_size : 0;
  return (uint32)uses.bags[position];
}

// Some consecutive uses, and the one after them: what the lanes of a group look up together before
// they sum, since each of it is a way to the L2 cache and back, one after the other.
struct Chunk {
  uint32 row[chunk_uses + 1];
  bool is_mine[chunk_uses + 1];
  bool has_won[chunk_uses];  // of a maximum: an id that comes again in its bag has not
  uint32 unit[chunk_uses];
  Value share[chunk_uses][num_poolings];  // of the unit's gradient, weighted
};

inline bool is_mine(const Slice& slice, uint32 at, uint32 row) {
  if (row == no_row) return false;
  if (at >= slice.end) return slice.reads_on && row == slice.last_row;
  return !(slice.skips_first && row == slice.first_row);
}

inline Value weight_at(const Input& in, uint32 position) {
  if constexpr (!has_weights) return 1;
  const auto loaded = load_if<(int)sizeof(Weight)>(true, in.weights + position);
  return (Value)element<Weight>(loaded.word, 0);
}

inline Value share_of(const SortedUses& uses, uint32 unit, int p) {
  if constexpr (needs_shares) {
    return ((const Value*)uses.shares)[(int64)unit * num_poolings + p];
  } else {
    return passed_on(pooling_at(p), Counted{});
  }
}

// A row wins once for each bag: an id that comes again in its bag is the next use of its row.
inline bool comes_again(const SortedUses& uses, uint32 at, uint32 row, uint32 unit) {
  return row_at(uses, (int64)at - 1) == row && unit_of(uses, uses.positions[at - 1]) == unit;
}

inline void look_up(const Input& in, const SortedUses& uses, const Slice& slice, uint32 at, int use,
                    Chunk& chunk) {
  const bool can_be = at < slice.end || slice.reads_on;
  const uint32 row = can_be ? row_at(uses, at) : no_row;
  const bool mine = is_mine(slice, at, row);
  chunk.row[use] = row;
  chunk.is_mine[use] = mine;
  if (!mine || use == chunk_uses) return;
  const uint32 position = uses.positions[at];
  const uint32 unit = unit_of(uses, position);
  const Value weight = weight_at(in, position);
  chunk.unit[use] = unit;
  if constexpr (has_winners) chunk.has_won[use] = !comes_again(uses, at, row, unit);
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) chunk.share[use][p] = weight * share_of(uses, unit, p);
}

// Adds one pooling's gradients to those of the uses from `first` on.
inline void add_pooling(const Output* gradient, const Lane& lane, const Chunk& chunk, int first,
                        int p, RowGradient* of_use) {
  Loaded<share_bytes> loaded[at_once][vectors_per_lane];
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    const bool mine = chunk.is_mine[first + u];
    const Output* const of_unit =
        gradient + (mine ? (int64)chunk.unit[first + u] * output_stride : 0) + p * dim;
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      loaded[u][v] = load_aligned_if<share_bytes, output_vector_alignment>(
          mine && lane.has_vector(v), of_unit + lane.vector(v) * elements);
    }
  }
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    const Value share = chunk.is_mine[first + u] ? chunk.share[first + u][p] : (Value)0;
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        of_use[u].value[v][e] += share * (Value)element<Output>(loaded[u][v].word, e);
      }
    }
  }
}

// Of a maximum a row has the columns that it won.
inline void add_won(const Input& in, const Output* gradient, const Lane& lane, const Chunk& chunk,
                    int first, int p, RowGradient* of_use) {
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    if (!chunk.is_mine[first + u] || !chunk.has_won[first + u]) continue;
    const int64 unit = chunk.unit[first + u];
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      if (!lane.has_vector(v)) continue;
#pragma unroll
      for (int e = 0; e < elements; ++e) {
        const int column = lane.vector(v) * elements + e;
        if (in.winners[unit * dim + column] != (Id)chunk.row[first + u]) continue;
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

// What a group carries from use to use.
struct Carried {
  uint32 row;
  uint32 place;
  bool was_mine;
  RowGradient sum;
};

// Sums the uses of a chunk from `first` on; the rows that end among them are given away.
inline void reduce_uses_at(const Input& in, const SortedUses& uses, const Output* gradient,
                           const RowGradients& to, const Lane& lane, int64 number,
                           const Slice& slice, const Chunk& chunk, int first, Carried& carried) {
  RowGradient sum[at_once] = {};
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) {
    if (pooling_at(p) == max_pooling) {
      add_won(in, gradient, lane, chunk, first, p, sum);
    } else {
      add_pooling(gradient, lane, chunk, first, p, sum);
    }
  }
  uint32 places[at_once];
  bool ends[at_once];
  bool is_piece[at_once];
  RowBefore before[at_once];
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    const uint32 row = chunk.row[first + u];
    const bool mine = chunk.is_mine[first + u];
    if (mine && carried.was_mine && carried.row == row) {
      add_to(sum[u], u == 0 ? carried.sum : sum[u == 0 ? 0 : u - 1]);
    }
    if (mine && carried.row != row) ++carried.place;
    places[u] = carried.place;
    ends[u] = mine && !(chunk.is_mine[first + u + 1] && chunk.row[first + u + 1] == row);
    is_piece[u] = (slice.first_is_piece && row == slice.first_row) ||
                  (slice.last_is_piece && row == slice.last_row);
    before[u] = load_row(to, lane, ends[u] && !is_piece[u], row);
    carried.row = row;
    carried.was_mine = mine;
  }
  carried.sum = sum[at_once - 1];
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    if (ends[u] && is_piece[u]) {
      const bool is_last = !(slice.first_is_piece && chunk.row[first + u] == slice.first_row);
      store_piece(uses, lane, number, is_last, sum[u]);
    }
    give_row(to, lane, ends[u] && !is_piece[u], chunk.row[first + u], places[u], sum[u], before[u]);
  }
}

inline void reduce_slice(const Input& in, const SortedUses& uses, const Output* gradient,
                         const RowGradients& to, const Lane& lane, int64 number, Chunk& chunk) {
  const Slice slice = slice_of(uses, number);
  const bool is_empty = slice.begin == slice.end;
  Carried carried = {};
  carried.row = slice.begin > 0 ? row_at(uses, (int64)slice.begin - 1) : no_row;
  if (row_gradient == sparse_gradient && !is_empty) carried.place = uses.rows_before[number] - 1;
  uint32 at = slice.begin;
  bool has_more = !is_empty;
#pragma unroll 1
  while (ballot(has_more) != 0) {
    for (int use = lane.row_lane; use <= chunk_uses; use += lanes_per_row) {
      look_up(in, uses, slice, at + use, use, chunk);
    }
    warp_barrier();
#pragma unroll 1
    for (int first = 0; first < chunk_uses; first += at_once) {
      const bool has_work = !is_empty && (at + first < slice.end || chunk.is_mine[first]);
      if (ballot(has_work) == 0) break;
      reduce_uses_at(in, uses, gradient, to, lane, number, slice, chunk, first, carried);
    }
    at += chunk_uses;
    has_more = !is_empty && (at < slice.end || chunk.is_mine[chunk_uses]);
    warp_barrier();
  }
}
