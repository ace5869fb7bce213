// One group's work: it sums the gradients of a slice's uses, row by row, as many in flight as
// rows_in_flight says. No lane leaves before all of its warp do, since rows may need sums over
// their lanes.

constexpr int at_once = rows_in_flight;
static_assert(chunk_uses % at_once == 0, "a chunk is summed in steps of one length");
constexpr bool needs_shares = needs_count || needs_weight_sum;
constexpr int uses_per_lane = (chunk_uses + lanes_per_row - 1) / lanes_per_row;
constexpr int share_bytes = elements * (int)sizeof(Output);
constexpr int winners_bytes = elements * (int)sizeof(Id);

// What a use is to its group.
enum {
  is_mine = 1,         // the group sums it
  begins_row = 2,      // it is the first of its row that the group sees
  ends_row = 4,        // the group sums no more of its row
  is_first_piece = 8,  // its row is long, and begins in a slice before
  is_last_piece = 16,  // its row is long, and begins in this slice
  is_piece = is_first_piece | is_last_piece,
  is_new_row = 32,  // it is the first of its row in all slices
  has_won = 64      // of a maximum: an id that comes again in its bag has not
};

struct alignas(16) Use {
  uint32 row;
  uint32 unit;  // whose gradient it takes
  uint32 is;
  Value share[num_poolings];  // of the unit's gradient, weighted
};

// Some consecutive uses, which the lanes of a group look up together before they sum.
struct Chunk {
  Use use[chunk_uses];
};

// A use as it is sorted, with its neighbours.
struct Sorted {
  uint32 row;
  uint32 row_before;
  uint32 row_after;
  uint32 position;
  uint32 position_before;
};

inline uint32 unit_of(const SortedUses& uses, uint32 position) {
  if constexpr (keeps_rows) return position;
  if constexpr (is_fixed) return bag_size > 0 ? position / (uint32)bag_size : 0;
  return (uint32)uses.bags[position];
}

inline bool is_of_slice(const Slice& slice, uint32 at, uint32 row) {
  if (row == no_row) return false;
  if (at >= slice.end) return slice.reads_on && row == slice.last_row;
  return !(slice.skips_first && row == slice.first_row);
}

inline Sorted sorted_at(const SortedUses& uses, const Slice& slice, uint32 at) {
  Sorted sorted = {no_row, no_row, no_row, 0, 0};
  if (at >= slice.end && !slice.reads_on) return sorted;
  sorted.row = row_at(uses, at);
  sorted.row_before = row_at(uses, (int64)at - 1);
  sorted.row_after = row_at(uses, (int64)at + 1);
  if (sorted.row == no_row) return sorted;
  sorted.position = uses.positions[at];
  if (has_winners && sorted.row_before == sorted.row) {
    sorted.position_before = uses.positions[at - 1];
  }
  return sorted;
}

inline uint32 what_is(const SortedUses& uses, const Slice& slice, uint32 at, const Sorted& sorted,
                      uint32 unit) {
  if (!is_of_slice(slice, at, sorted.row)) return 0;
  const uint32 row = sorted.row;
  uint32 is = is_mine;
  if (sorted.row_before != row) is |= is_new_row;
  if (sorted.row_before != row || at == slice.begin) is |= begins_row;
  if (sorted.row_after != row || (at + 1 == slice.end && !slice.reads_on)) is |= ends_row;
  if (slice.first_is_piece && row == slice.first_row) {
    is |= is_first_piece;
  } else if (slice.last_is_piece && row == slice.last_row) {
    is |= is_last_piece;
  }
  if constexpr (has_winners) {
    const bool comes_again =
        sorted.row_before == row && unit_of(uses, sorted.position_before) == unit;
    if (!comes_again) is |= has_won;
  }
  return is;
}

inline Value share_of(const SortedUses& uses, uint32 unit, int p) {
  if constexpr (needs_shares) {
    return ((const Value*)uses.shares)[(int64)unit * num_poolings + p];
  } else {
    return passed_on(pooling_at(p), Counted{});
  }
}

inline Value weight_at(const Input& in, uint32 position) {
  if constexpr (!has_weights) return 1;
  const auto loaded = load_if<(int)sizeof(Weight)>(true, in.weights + position);
  return (Value)element<Weight>(loaded.word, 0);
}

inline Use use_of(const Input& in, const SortedUses& uses, const Slice& slice, uint32 at,
                  const Sorted& sorted) {
  Use use = {};
  use.row = sorted.row;
  if (!is_of_slice(slice, at, sorted.row)) return use;
  use.unit = unit_of(uses, sorted.position);
  use.is = what_is(uses, slice, at, sorted, use.unit);
  const Value weight = weight_at(in, sorted.position);
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) use.share[p] = weight * share_of(uses, use.unit, p);
  return use;
}

// What a group has of the uses that are next: it looks further ahead than it sums, since each look
// is a way to the L2 cache and back, and one waits for the other.
struct Ahead {
  Use use[uses_per_lane];        // of the next chunk
  Sorted sorted[uses_per_lane];  // of the chunk after it
};

inline uint32 use_in_chunk(const Lane& lane, int i) {
  return (uint32)(i * lanes_per_row + lane.row_lane);
}

inline void look_at_sorted(const SortedUses& uses, const Slice& slice, const Lane& lane, uint32 at,
                           Ahead& ahead) {
#pragma unroll
  for (int i = 0; i < uses_per_lane; ++i) {
    ahead.sorted[i] = sorted_at(uses, slice, at + use_in_chunk(lane, i));
  }
}

inline void look_at_uses(const Input& in, const SortedUses& uses, const Slice& slice,
                         const Lane& lane, uint32 at, Ahead& ahead) {
#pragma unroll
  for (int i = 0; i < uses_per_lane; ++i) {
    ahead.use[i] = use_of(in, uses, slice, at + use_in_chunk(lane, i), ahead.sorted[i]);
  }
}

inline void fill(const Lane& lane, const Ahead& ahead, Chunk& chunk) {
#pragma unroll
  for (int i = 0; i < uses_per_lane; ++i) {
    if (use_in_chunk(lane, i) < chunk_uses) chunk.use[use_in_chunk(lane, i)] = ahead.use[i];
  }
}

// What is loaded for a use: the gradients of its unit's outputs, and the row that it ends.
struct OfUse {
  Loaded<share_bytes> gradient[num_poolings][vectors_per_lane];
  Loaded<winners_bytes> winners[has_winners ? vectors_per_lane : 1];
  RowBefore before;
};

inline bool gives_row(const Use& use) {
  return (use.is & ends_row) && !(use.is & is_piece);
}

inline OfUse load_of_use(const Input& in, const Output* gradient, const RowGradients& to,
                         const Lane& lane, const Use& use) {
  OfUse of;
  of.before = load_row(to, lane, gives_row(use), use.row);
  const Output* const of_unit = gradient + (int64)use.unit * output_stride;
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
    const bool is_wanted = (use.is & is_mine) && lane.has_vector(v);
    const int column = lane.vector(v) * elements;
#pragma unroll
    for (int p = 0; p < num_poolings; ++p) {
      of.gradient[p][v] = load_aligned_if<share_bytes, output_vector_alignment>(
          is_wanted, of_unit + p * dim + column);
    }
    if constexpr (has_winners) {
      of.winners[v] = load_aligned_if<winners_bytes, (int)sizeof(Id)>(
          is_wanted && (use.is & has_won), in.winners + (int64)use.unit * dim + column);
    }
  }
  return of;
}

inline Id id_in(const uint32* word, int i) {
  if constexpr (sizeof(Id) == 4) return (Id)word[i];
  return (Id)((uint64)word[2 * i + 1] << 32 | word[2 * i]);
}

// Of a maximum a row has the columns that it won.
inline bool has_won_column(const OfUse& of, const Use& use, int v, int e) {
  if constexpr (has_winners) {
    return (use.is & has_won) && id_in(of.winners[v].word, e) == (Id)use.row;
  }
  return false;
}

inline void add_use(const OfUse& of, const Use& use, RowGradient& sum) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      if (use.is & begins_row) sum.value[v][e] = 0;
#pragma unroll
      for (int p = 0; p < num_poolings; ++p) {
        const Value value = (Value)element<Output>(of.gradient[p][v].word, e);
        if (pooling_at(p) != max_pooling) {
          sum.value[v][e] += use.share[p] * value;
        } else if (has_won_column(of, use, v, e)) {
          sum.value[v][e] += value;
        }
      }
    }
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
  uint32 place;  // of the last row in a sparse gradient
  RowGradient sum;
};

// Sums some uses of a chunk; the rows that end among them are given away.
inline void sum_uses(const Input& in, const SortedUses& uses, const Output* gradient,
                     const RowGradients& to, const Lane& lane, int64 number, const Use* use,
                     Carried& carried) {
  OfUse of[at_once];
#pragma unroll
  for (int u = 0; u < at_once; ++u) of[u] = load_of_use(in, gradient, to, lane, use[u]);
#pragma unroll
  for (int u = 0; u < at_once; ++u) {
    if (use[u].is & is_new_row) ++carried.place;
    add_use(of[u], use[u], carried.sum);
    if ((use[u].is & ends_row) && (use[u].is & is_piece)) {
      store_piece(uses, lane, number, use[u].is & is_last_piece, carried.sum);
    }
    RowGradient of_row = carried.sum;
    give_row(to, lane, gives_row(use[u]), use[u].row, carried.place, of_row, of[u].before);
  }
}

inline void reduce_slice(const Input& in, const SortedUses& uses, const Output* gradient,
                         const RowGradients& to, const Lane& lane, int64 number, Chunk& chunk) {
  const Slice slice = slice_of(uses, number);
  if (slice.last_is_piece && lane.tile == 0 && lane.row_lane == 0) {
    uses.long_rows[take_number(uses.long_rows_count)] = (uint32)number;
  }
  Carried carried = {};
  if (row_gradient == sparse_gradient && slice.begin < slice.end) {
    carried.place = uses.rows_before[number] - 1;
  }
  Ahead ahead;
  look_at_sorted(uses, slice, lane, slice.begin, ahead);
  look_at_uses(in, uses, slice, lane, slice.begin, ahead);
  look_at_sorted(uses, slice, lane, slice.begin + chunk_uses, ahead);
#pragma unroll 1
  for (uint32 at = slice.begin; true; at += chunk_uses) {
    fill(lane, ahead, chunk);
    warp_barrier();
    if (ballot(at < slice.end || (chunk.use[0].is & is_mine)) == 0) break;
    look_at_uses(in, uses, slice, lane, at + chunk_uses, ahead);
    look_at_sorted(uses, slice, lane, at + 2 * chunk_uses, ahead);
#pragma unroll 1
    for (int first = 0; first < chunk_uses; first += at_once) {
      const Use* const use = chunk.use + first;
      if (ballot(at + first < slice.end || (use->is & is_mine)) == 0) break;
      sum_uses(in, uses, gradient, to, lane, number, use, carried);
    }
    warp_barrier();
  }
}
