// Sorted uses are reduced in slices of one length, so that the same additions are made on every
// run, whatever the grid. A row whose uses fill a whole slice is long: each slice sums its piece of
// it, and join_pieces adds those up. Any other row is summed by the slice in which it begins, which
// reads on into the next one for it.

inline uint32 row_at(const SortedUses& uses, int64 use) {
  return use >= 0 && use < uses.count ? uses.keys[use] : no_row;
}

struct Slice {
  uint32 begin;
  uint32 end;
  uint32 first_row;
  uint32 last_row;
  bool skips_first;     // the row's uses are summed by the slice before
  bool first_is_piece;  // of a long row that begins in a slice before
  bool last_is_piece;   // of a long row that begins here
  bool reads_on;        // the last row ends in the next slice
};

inline Slice slice_of(const SortedUses& uses, int64 number) {
  Slice slice = {};
  const int64 begin = number * uses.slice;
  if (begin >= uses.count) return slice;
  const int64 end = begin + uses.slice < uses.count ? begin + uses.slice : uses.count;
  const int64 end_of_next = end + uses.slice < uses.count ? end + uses.slice : uses.count;
  slice.begin = (uint32)begin;
  slice.end = (uint32)end;
  slice.first_row = row_at(uses, begin);
  slice.last_row = row_at(uses, end - 1);
  const bool is_filled = slice.first_row == slice.last_row;
  const bool begins_before = begin > 0 && row_at(uses, begin - 1) == slice.first_row;
  slice.first_is_piece =
      begins_before && (is_filled || row_at(uses, begin - uses.slice) == slice.first_row);
  slice.skips_first = begins_before && !slice.first_is_piece;
  const bool goes_on = slice.last_row != no_row && !(begins_before && is_filled) &&
                       row_at(uses, end) == slice.last_row;
  slice.last_is_piece = goes_on && (is_filled || row_at(uses, end_of_next - 1) == slice.last_row);
  slice.reads_on = goes_on && !slice.last_is_piece;
  return slice;
}

// Where the lane's columns of a slice's piece are: that of its first row, or of its last.
inline Value* piece_address(const SortedUses& uses, const Lane& lane, int64 slice, bool is_last,
                            int v) {
  return (Value*)uses.pieces + (2 * slice + (is_last ? 1 : 0)) * dim + lane.vector(v) * elements;
}
constexpr int piece_alignment = elements * (int)sizeof(Value);
