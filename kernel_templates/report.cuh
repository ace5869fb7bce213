// How bad input reaches the host: the lowest bag's first. Cold: only bad input comes here. Inlined
// all the same, since a call would have the hot path keep its registers in memory.

struct BadInput {
  int64 bag;
  int64 is_bag;
  int64 position;
  int64 value;
  int64 limit;
};

inline bool comes_before(const BadInput& bad, int64 table, const volatile BadInputReport* report) {
  if (table != report->table) return table < report->table;
  if (bad.bag != report->bag) return bad.bag < report->bag;
  if (bad.is_bag != report->is_bag) return bad.is_bag > report->is_bag;
  return bad.position < report->position;
}

// Whether what is reported comes first. A report that changed while it was looked at tells nothing:
// its table may be that of one report and its bag that of another.
inline bool is_reported_already(const BadInput& bad, int64 table,
                                const volatile BadInputReport* report) {
  const uint32 found = report->found;
  fence_to_host();
  const bool comes_first = !found || comes_before(bad, table, report);
  fence_to_host();
  return !comes_first && report->found == found;
}

__forceinline__ void report_bad_input(const Input& in, const BadInput& bad) {
  volatile BadInputReport* report = in.report;
  while (!is_reported_already(bad, in.table_number, report)) {
    if (!try_lock(&in.report->lock)) continue;
    const uint32 found = report->found;
    if (!found || comes_before(bad, in.table_number, report)) {
      report->found = 0;
      fence_to_host();
      report->table = in.table_number;
      report->bag = bad.bag;
      report->is_bag = bad.is_bag;
      report->position = bad.position;
      report->value = bad.value;
      report->limit = bad.limit;
      fence_to_host();
      report->found = found + 1 == 0 ? 1 : found + 1;
    }
    fence_to_host();
    unlock(&in.report->lock);
  }
}

// The bag that holds a position of the ids: the last one that begins at or before it.
inline int64 bag_at(const Input& in, int64 position) {
  if constexpr (is_fixed) return bag_size > 0 ? position / bag_size : 0;
  int64 low = 0;
  int64 high = in.batch;
  while (high - low > 1) {
    const int64 middle = (low + high) / 2;
    (begin_of(in, middle) <= position ? low : high) = middle;
  }
  return low;
}

inline bool is_bad_bag(const Input& in, int64 begin, int64 end) {
  return begin < 0 || end > in.num_ids || end < begin;
}

// Reports the first bad input of a row of the output, which has some. Looks for it again rather
// than keep what was found: one place in the code, after the output is written, and no registers in
// the hot path.
__forceinline__ void report_row(const Input& in, int64 row) {
  const int64 bag = keeps_rows ? bag_at(in, row) : row;
  int64 position = row;
  int64 end = row + 1;
  if constexpr (is_fixed && !keeps_rows) {
    position = bag * bag_size;
    end = position + bag_size;
  } else if constexpr (!keeps_rows) {
    position = raw_begin_of(in, bag);
    end = raw_end_of(in, bag);
    if (is_bad_bag(in, position, end)) {
      report_bad_input(in, {bag, 1, position, end, in.num_ids});
      return;
    }
  }
#pragma unroll 1
  for (; position < end; ++position) {
    const Id id = in.ids[position];
    if ((has_padding && id == (Id)padding_id) || is_in_table(id, in.num_rows)) continue;
    report_bad_input(in, {bag, 0, position - begin_of(in, bag), (int64)id, in.num_rows});
    return;
  }
}
