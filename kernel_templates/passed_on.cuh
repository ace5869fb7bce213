// What a bag's poolings pass on of the gradient of their outputs.

constexpr bool needs_count = has_pooling(mean_pooling) || has_pooling(mean_by_sqrt_pooling);

struct Counted {
  int count;
  Value weight_sum;
};

// Adds up what the lanes of a bag have counted, those that differ in the bits from `first` to
// before `end`; afterwards each has the whole.
template <int first, int end>
inline void merge_counted(Counted& counted) {
#pragma unroll
  for (int mask = first; mask < end; mask *= 2) {
    counted.count += shuffle_xor(counted.count, mask);
    if constexpr (needs_weight_sum) counted.weight_sum += shuffle_xor(counted.weight_sum, mask);
  }
}

inline Value passed_on(int pooling, const Counted& counted) {
  switch (pooling) {
    case mean_pooling:
      return reciprocal((Value)counted.count);
    case mean_by_sqrt_pooling:
      return (Value)1 / square_root((Value)counted.count);
    case mean_by_length_pooling:
      return (Value)1 / (Value)mean_length;
    case mean_by_weights_pooling:
      return (Value)1 / counted.weight_sum;
    default:
      return 1;
  }
}
