// Where the ids of a bag are, which of them count, and what the poolings need of them.

constexpr bool keeps_rows = pooling_at(0) == no_pooling;
constexpr bool needs_sum =
    has_pooling(sum_pooling) || has_pooling(mean_pooling) || has_pooling(mean_by_weights_pooling) ||
    has_pooling(mean_by_length_pooling) || has_pooling(mean_by_sqrt_pooling) || keeps_rows;
constexpr bool needs_weight_sum = has_pooling(mean_by_weights_pooling);
constexpr bool is_fixed = bag_size >= 0;
constexpr bool must_check = bad_ids != trust_ids;

// Without pooling, what a group computes is one row, for one position of the ids.
constexpr bool has_runs_of_one_length = is_fixed || keeps_rows;
constexpr long long bag_length = keeps_rows ? 1 : bag_size;

struct Input {
  const char* table;
  int64 num_rows;
  const char* scales;
  const Id* ids;
  int64 num_ids;
  const Offset* offsets;
  const Weight* weights;
  Output* output;
  Id* winners;
  const float* end_parameters;
  int64 batch;
  BadInputReport* report;
  int table_number;  // within a set, else -1
};

inline int64 clamp(int64 value, int64 low, int64 high) {
  return value < low ? low : value > high ? high : value;
}

inline Input input_of(const BagArguments& arguments, BadInputReport* report, int table_number) {
  Input in = {(const char*)arguments.table,
              arguments.num_rows,
              (const char*)arguments.scales,
              (const Id*)arguments.ids,
              arguments.num_ids,
              (const Offset*)arguments.offsets,
              (const Weight*)arguments.weights,
              (Output*)arguments.output,
              (Id*)arguments.winners,
              arguments.end_parameters,
              arguments.batch,
              report,
              table_number};
  if constexpr (counts_are_on_device) {
    in.batch = clamp(arguments.counts[0], 0, arguments.batch);
    in.num_ids = clamp(arguments.counts[1], 0, arguments.num_ids);
  }
  return in;
}

// Offsets as they are given. An implied one is the number of ids.
inline int64 raw_begin_of(const Input& in, int64 bag) {
  return in.offsets[bag];
}
inline int64 raw_end_of(const Input& in, int64 bag) {
  return offsets_include_end || bag + 1 < in.batch ? (int64)in.offsets[bag + 1] : in.num_ids;
}

// Where ids are checked, offsets are kept within the ids as well.
inline int64 within_ids(const Input& in, int64 offset) {
  return must_check ? clamp(offset, 0, in.num_ids) : offset;
}

inline int64 begin_of(const Input& in, int64 bag) {
  return is_fixed ? bag * bag_size : within_ids(in, raw_begin_of(in, bag));
}

// Rows of the output that there are to compute, and the first of them.
inline int64 first_output_row(const Input& in) {
  return keeps_rows && !is_fixed && in.batch > 0 ? begin_of(in, 0) : 0;
}
inline int64 end_of_output_rows(const Input& in) {
  if constexpr (!keeps_rows) return in.batch;
  if constexpr (is_fixed) return in.batch * bag_size;
  return in.batch > 0 ? within_ids(in, raw_end_of(in, in.batch - 1)) : 0;
}

inline bool is_in_table(Id id, int64 num_rows) {
  if constexpr (sizeof(Id) == 4) {
    // The sign bit turns a negative id into one that no table of 2^31 rows has.
    return (uint32)id < (num_rows < 0x80000000ll ? (uint32)num_rows : 0x80000000u);
  } else {
    return (uint64)id < (uint64)num_rows;
  }
}

// A lane's share of the ids of a bag.
struct Run {
  Index position;  // of the next id
  Index end;       // no id at or after this position belongs to the bag
};

// A fixed bag is cut into one run of ids for each bag lane; a CSR bag is dealt out id by id.
constexpr int run_length =
    has_runs_of_one_length ? ((int)bag_length + bag_lanes - 1) / bag_lanes : 0;
constexpr bool runs_are_full = has_runs_of_one_length && run_length * bag_lanes == bag_length;
constexpr int id_step = has_runs_of_one_length ? 1 : bag_lanes;
constexpr int id_vector_bytes =
    runs_are_full
        ? greatest_common_divisor(id_alignment,
                                  greatest_common_divisor(16, run_length % 16 * (int)sizeof(Id)))
        : (int)sizeof(Id);

template <int n>
struct Ids {
  Id id[n];
  bool present[n];
};

inline Id id_from(const uint32* word) {
  if constexpr (sizeof(Id) == 8) {
    return (Id)((uint64)word[1] << 32 | word[0]);
  } else {
    return (Id)word[0];
  }
}

// The next n ids of a run; none of them where the group has no bag.
template <int n>
inline Ids<n> load_ids(const Input& in, const Run& run, bool works) {
  Ids<n> ids;
  if constexpr (runs_are_full) {
    constexpr int bytes = greatest_common_divisor(id_vector_bytes, n * (int)sizeof(Id));
    constexpr int in_one = bytes / (int)sizeof(Id);
#pragma unroll
    for (int i = 0; i < n; i += in_one) {
      const auto loaded = load_if<bytes>(works, in.ids + run.position + i);
#pragma unroll
      for (int j = 0; j < in_one; ++j) {
        ids.id[i + j] = id_from(loaded.word + j * (int)sizeof(Id) / 4);
        ids.present[i + j] = works;
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const Index position = run.position + i * id_step;
      ids.present[i] = works && position < run.end;
      const auto loaded = load_if<(int)sizeof(Id)>(ids.present[i], in.ids + position);
      ids.id[i] = id_from(loaded.word);
    }
  }
  return ids;
}
