#pragma once

#include <cstdint>
#include <string_view>

namespace jitbag {

/// Element type of a table, and, where it is a floating-point type of 16 bits or more, of weights
/// and outputs.
///
/// The last four are codes of a row-quantised table: an element is `scale * code + bias`, see
/// RowScale. int8 and int4 codes are unsigned (0 to 255, 0 to 15) where the row has a bias, and
/// signed (-128 to 127, -8 to 7) where it has none. Two int4 codes share a byte, the first in the
/// low half. float8 is that of the OCP: e4m3 without infinities and up to 448, e5m2 up to 57344.
enum class DataType : std::uint8_t {
  float32,
  float16,
  bfloat16,
  float64,
  int8,
  int4,
  float8_e4m3,
  float8_e5m2,
};

/// Type of ids and of offsets.
enum class IntegerType : std::uint8_t { int32, int64 };

[[nodiscard]] std::string_view name(DataType type);
[[nodiscard]] std::string_view name(IntegerType type);

/// Whether it is one of the four types of codes.
[[nodiscard]] constexpr bool is_quantised(DataType type) {
  return type >= DataType::int8;
}

[[nodiscard]] std::int64_t bits_of(DataType type);

/// Bytes of one element; of an int4, which has half of one, 1.
[[nodiscard]] std::int64_t size_of(DataType type);
[[nodiscard]] std::int64_t size_of(IntegerType type);

/// The type with that name ("float16", "int64"). Throws Error(invalid_argument) that lists the
/// names.
[[nodiscard]] DataType parse_data_type(std::string_view name);
[[nodiscard]] IntegerType parse_integer_type(std::string_view name);

}  // namespace jitbag
