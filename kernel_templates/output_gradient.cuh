// A lane's columns of the gradient of a bag's output, and what they give each row of the bag.

constexpr int share_bytes = elements * (int)sizeof(Output);

// The lane's columns, of each pooling.
struct OutputGradient {
  Loaded<share_bytes> vector[num_poolings][vectors_per_lane];
};

// One vector's columns of one pooling; of a last vector that is not full those that there are.
inline Loaded<share_bytes> load_columns_if(bool wanted, const Output* address, const Lane& lane,
                                           int v) {
  if constexpr (last_vector_is_full) {
    return load_aligned_if<share_bytes, output_vector_alignment>(wanted, address);
  } else {
    constexpr int bytes = (int)sizeof(Output);
    Loaded<share_bytes> columns = {};
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const auto column = load_if<bytes>(wanted && lane.has_column(v, e), address + e);
      if constexpr (bytes == 2) {
        columns.word[e / 2] |= column.word[0] << e % 2 * 16;
      } else {
#pragma unroll
        for (int i = 0; i < bytes / 4; ++i) columns.word[e * (bytes / 4) + i] = column.word[i];
      }
    }
    return columns;
  }
}

inline OutputGradient load_output_gradient(const Output* output, const Lane& lane, bool wanted) {
  OutputGradient gradient;
  const Output* const of_bag = output + (int64)lane.row * output_stride;
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) {
#pragma unroll
    for (int v = 0; v < vectors_per_lane; ++v) {
      gradient.vector[p][v] =
          load_columns_if(wanted && lane.works && lane.has_vector(v),
                          of_bag + p * dim + lane.vector(v) * elements, lane, v);
    }
  }
  return gradient;
}

// What each counted id of the bag gives its row, before its own weight.
struct Share {
  Value value[vectors_per_lane][elements];
};

inline void add_to_share(Share& share, const OutputGradient& gradient, int p, Value scale) {
#pragma unroll
  for (int v = 0; v < vectors_per_lane; ++v) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      share.value[v][e] += scale * (Value)element<Output>(gradient.vector[p][v].word, e);
    }
  }
}

inline Share share_of(const OutputGradient& gradient, const Counted& counted) {
  Share share = {};
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) {
    if (pooling_at(p) == max_pooling) continue;
    add_to_share(share, gradient, p, passed_on(pooling_at(p), counted));
  }
  return share;
}
