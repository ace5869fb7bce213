// How the lanes of a group share a row, and how rows are loaded.

constexpr int elements = vector_bytes * 8 / bits_per_element<Table>;
constexpr int row_bytes = (int)((dim * (long long)bits_per_element<Table> + 7) / 8);
constexpr int vectors_per_row = row_bytes / vector_bytes;
constexpr int vectors_per_tile = lanes_per_row * vectors_per_lane;
constexpr bool tiles_are_full = vectors_per_row % vectors_per_tile == 0;
// An odd number of int4 codes leaves half of the last byte empty.
constexpr bool last_vector_is_full = (long long)vectors_per_row * elements == dim;

constexpr int group_lanes = lanes_per_row * bag_lanes;
constexpr int groups_per_block = block_threads / group_lanes;
constexpr bool block_is_full = groups_per_block * group_lanes == block_threads;

// Where a lane stands.
struct Lane {
  Index row;  // of the output: the bag, or without pooling the position of the id
  int tile;
  int row_lane;
  int bag_lane;
  bool works;  // its group has a bag

  int vector(int v) const { return tile * vectors_per_tile + v * lanes_per_row + row_lane; }
  bool has_vector(int v) const { return tiles_are_full || vector(v) < vectors_per_row; }
  bool has_column(int v, int e) const {
    return last_vector_is_full || vector(v) * elements + e < dim;
  }
};

// Bytes that divide the address of a vector of the output.
constexpr int output_vector_alignment = greatest_common_divisor(
    output_alignment,
    greatest_common_divisor((int)(output_stride % 16) * (int)sizeof(Output),
                            num_poolings > 1 ? dim % 16 * (int)sizeof(Output) : 0));

constexpr bool has_scale = scale_place != scale_is_nowhere;
constexpr int scale_bytes = (int)sizeof(Scale) * (has_bias ? 2 : 1);
constexpr int scale_alignment =
    scale_place == scale_is_apart
        ? scale_bytes
        : (int)greatest_common_divisor(
              table_alignment,
              greatest_common_divisor((int)(row_stride_bytes % 16), (int)(scale_offset % 16)));

template <int n>
struct Rows {
  Loaded<vector_bytes> vector[n][vectors_per_lane];
  Loaded<scale_bytes> scale[has_scale ? n : 1];
  Loaded<(int)sizeof(Weight)> weight[has_weights ? n : 1];
  bool counted[n];
  bool any_is_bad;
  Index position;  // of the first one's id
};

// Unsigned, since it is also computed for a bad id, whose row is never read.
inline uint64 row_address(const char* table, Id id) {
  // With fewer than 2^31 rows, one widening multiplication instead of a 64-bit one.
  return (uint64)table +
         (addresses_are_32_bit ? (uint64)(uint32)id : (uint64)id) * (uint64)row_stride_bytes;
}

inline const void* scale_address(const Input& in, Id id) {
  if constexpr (scale_place == scale_is_apart) {
    return (const void*)((uint64)in.scales + (uint64)id * scale_bytes);
  } else {
    return (const void*)(row_address(in.table, id) + (uint64)scale_offset);
  }
}

// Scales of their own are few bytes, of which many serve again: rows should not put them out of
// the cache.
inline Loaded<scale_bytes> load_scale_if(bool wanted, const void* address) {
  if constexpr (scale_place == scale_is_apart) {
    return load_kept_if<scale_bytes>(wanted, address);
  } else {
    return load_aligned_if<scale_bytes, scale_alignment>(wanted, address);
  }
}

inline Loaded<vector_bytes> load_vector_if(bool wanted, const void* address) {
  if constexpr (scale_place == scale_is_apart) {
    return load_passing_if<vector_bytes>(wanted, address);
  } else {
    return load_if<vector_bytes>(wanted, address);
  }
}

template <int n>
inline Rows<n> load_rows(const Input& in, const Lane& lane, Index position, const Ids<n>& ids) {
  Rows<n> rows;
  rows.position = position;
  rows.any_is_bad = false;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const bool is_padding = has_padding && ids.id[i] == (Id)padding_id;
    const bool is_bad = must_check && !is_padding && !is_in_table(ids.id[i], in.num_rows);
    rows.counted[i] = ids.present[i] && !is_padding && !is_bad;
    const uint64 address = row_address(in.table, ids.id[i]) + codes_offset;
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      rows.vector[i][v] = load_vector_if(rows.counted[i] && lane.has_vector(v),
                                         (const void*)(address + lane.vector(v) * vector_bytes));
    }
    if constexpr (has_scale) {
      rows.scale[i] = load_scale_if(rows.counted[i], scale_address(in, ids.id[i]));
    }
    if constexpr (has_weights) {
      rows.weight[i] =
          load_if<(int)sizeof(Weight)>(rows.counted[i], in.weights + position + i * id_step);
    }
    rows.any_is_bad |= ids.present[i] && is_bad;
  }
  return rows;
}
