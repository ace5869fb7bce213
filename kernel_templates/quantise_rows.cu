// Quantises rows: table[row] = codes of values[row], with the row's scale and bias where they
// belong.
//
// lanes_per_row lanes read a row twice, for its extent and for its codes; the second time it comes
// from a cache. A lane writes whole bytes of codes, one after the other with its neighbours.

#include "device.cuh"
#include "encode.cuh"

constexpr int code_bits = bits_per_element<Table>;
constexpr int codes_per_byte = 8 / code_bits;
constexpr int row_bytes = (dim + codes_per_byte - 1) / codes_per_byte;
constexpr int rows_per_block = block_threads / lanes_per_row;
constexpr int scale_bytes = (int)sizeof(Scale);
constexpr int scale_stride = has_bias ? 2 * scale_bytes : scale_bytes;

struct Extent {
  float low;
  float high;
  float poison;  // 0, or NaN where a value is NaN or infinite
};

struct ScaleAndBias {
  float scale;
  float bias;
};

inline void widen(Extent& extent, const Extent& other) {
  extent.low = other.low < extent.low ? other.low : extent.low;
  extent.high = other.high > extent.high ? other.high : extent.high;
  extent.poison += other.poison;
}

// Of the whole row, for each of its lanes.
inline Extent extent_of(const float* values, bool has_row, int lane) {
  const float infinity = float_from_bits(0x7f800000u);
  Extent extent = {infinity, -infinity, 0};
  if (has_row) {
#pragma unroll 4
    for (int i = lane; i < dim; i += lanes_per_row) {
      const float value = values[i];
      widen(extent, {value, value, difference(value, value)});
    }
  }
#pragma unroll
  for (int mask = 1; mask < lanes_per_row; mask *= 2) {
    widen(extent, {shuffle_xor(extent.low, mask), shuffle_xor(extent.high, mask),
                   shuffle_xor(extent.poison, mask)});
  }
  // Spoils what is made of them; and of -0 makes 0, so that it does not matter which of these two
  // was met first.
  extent.low += extent.poison;
  extent.high += extent.poison;
  return extent;
}

inline ScaleAndBias scale_and_bias_of(const Extent& extent) {
  if constexpr (scale_place == scale_is_nowhere) {
    return {1.0f + extent.poison, 0};
  } else if constexpr (counts_from_bias<Table>) {
    const float range = difference(extent.high, extent.low);
    return {quotient(range, largest_code<Table>), extent.low};
  } else {
    const float magnitude = -extent.low > extent.high ? -extent.low : extent.high;
    return {quotient(magnitude, largest_code<Table>), 0};
  }
}

// The nearest number that the scale's type has.
inline float as_stored(float value) {
  if constexpr (sizeof(Scale) == 4) {
    return value;
  } else {
    constexpr float limit = 65504;
    const float within = value > limit ? limit : value < -limit ? -limit : value;
    return float_from_float16(float16_from_float(within));
  }
}

// Byte by byte, since within a row they may stand anywhere.
inline void write_scale(unsigned char* to, float value) {
  const uint32 bits = bits_of<Scale>(value);
#pragma unroll
  for (int i = 0; i < scale_bytes; ++i) to[i] = byte_of_word(bits, i);
}

inline uint32 code_of(float value, const ScaleAndBias& by) {
  // No division where the scale is 0 or NaN.
  return code_from<Table>(by.scale > 0 ? quotient(difference(value, by.bias), by.scale) : 0.0f);
}

inline void write_codes(unsigned char* to, const float* values, const ScaleAndBias& by, int lane) {
#pragma unroll 4
  for (int byte = lane; byte < row_bytes; byte += lanes_per_row) {
    uint32 bits = 0;
#pragma unroll
    for (int i = 0; i < codes_per_byte; ++i) {
      const int column = byte * codes_per_byte + i;
      if (column < dim) bits |= code_of(values[column], by) << i * code_bits;
    }
    to[byte] = (unsigned char)bits;
  }
}

extern "C" __global__ void __launch_bounds__(block_threads)
    quantise_rows(const float* values, int64 num_rows, unsigned char* table,
                  unsigned char* scales) {
  const int lane = (int)threadIdx.x % lanes_per_row;
  const int row_in_block = (int)threadIdx.x / lanes_per_row;
  const int64 step = (int64)gridDim.x * rows_per_block;
  // All lanes of a block go on together: they meet at shuffles.
  for (int64 first = (int64)blockIdx.x * rows_per_block; first < num_rows; first += step) {
    const int64 row = first + row_in_block;
    const bool has_row = row < num_rows;
    const float* from = values + row * dim;
    const Extent extent = extent_of(from, has_row, lane);
    if (!has_row) continue;

    const ScaleAndBias exact = scale_and_bias_of(extent);
    const ScaleAndBias by = {as_stored(exact.scale), as_stored(exact.bias)};
    unsigned char* to = table + row * row_stride_bytes;
    if (scale_place != scale_is_nowhere && lane == 0) {
      unsigned char* at =
          scale_place == scale_is_apart ? scales + row * scale_stride : to + scale_offset;
      write_scale(at, by.scale);
      if constexpr (has_bias) write_scale(at + scale_bytes, by.bias);
    }
    write_codes(to + codes_offset, from, by, lane);
  }
}
