// Which ids belong to a row of the output, for kernels that walk through ids alone.

// The positions of one row of the output.
struct Positions {
  int64 begin;
  int64 end;
  bool are_bad;
};

inline Positions positions_of(const Input& in, int64 row) {
  if constexpr (keeps_rows) return {row, row + 1, false};
  if constexpr (is_fixed) return {row * bag_size, (row + 1) * bag_size, false};
  const int64 begin = raw_begin_of(in, row);
  const int64 end = raw_end_of(in, row);
  return {within_ids(in, begin), within_ids(in, end), is_bad_bag(in, begin, end)};
}
