#pragma once

#include <cstdint>

#include "jitbag/types.hpp"

namespace jitbag {

/// How the rows of a quantised table are laid out, and where the scale (and bias) of each one is.
/// An element is `scale * code + bias`; the bias, where there is one, follows the scale.
struct RowScale {
  enum class Place : std::uint8_t {
    nowhere,  ///< scale 1, bias 0: an element is its code
    apart,    ///< in an array of their own: ForwardArguments::scales, [num_rows] or [num_rows, 2]
    in_row,   ///< among the row's own bytes, `offset` bytes from its begin
  };
  Place place = Place::apart;
  DataType type = DataType::float32;  ///< of scale and bias: float32 or float16
  bool has_bias = false;
  std::int64_t offset = 0;        ///< in_row: bytes from the row's begin to its scale
  std::int64_t codes_offset = 0;  ///< bytes from the row's begin to its first code

  bool operator==(const RowScale&) const = default;
};

/// The layouts that FBGEMM writes, from the descriptions in its sources
/// (github.com/pytorch/FBGEMM, fbgemm_gpu/codegen and src/RefImplementations.cc).
namespace fbgemm {

/// A table of IntNBitTableBatchedEmbeddingBagsCodegen, int8 or int4: float16 scale and bias, then
/// the codes. The module rounds rows up to its row_alignment (16 on a GPU): give that as
/// ForwardSpec::row_stride. Its float8 rows have no scale: RowScale::Place::nowhere.
[[nodiscard]] constexpr RowScale inference_row() {
  return {RowScale::Place::in_row, DataType::float16, true, 0, 4};
}

/// What FloatToFused8BitRowwiseQuantized writes on a GPU: int8 codes, padded to a multiple of 4,
/// then float32 scale and bias. (On the CPU, as PyTorch's embedding_bag_byte_prepack, it does not
/// pad: the offset of the scale is then dim.)
[[nodiscard]] constexpr RowScale fused_8bit_row(std::int64_t dim) {
  return {RowScale::Place::in_row, DataType::float32, true, (dim + 3) / 4 * 4, 0};
}

/// What FloatToFusedNBitRowwiseQuantizedSBHalf writes with 4 bits: int4 codes, then float16 scale
/// and bias.
[[nodiscard]] constexpr RowScale fused_4bit_row(std::int64_t dim) {
  return {RowScale::Place::in_row, DataType::float16, true, (dim + 1) / 2, 0};
}

}  // namespace fbgemm
}  // namespace jitbag
