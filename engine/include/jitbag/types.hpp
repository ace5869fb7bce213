#pragma once

#include <cstdint>
#include <string_view>

namespace jitbag {

/// Element type of a table or an output.
enum class DataType : std::uint8_t { float32, float16, bfloat16 };

/// Type of ids and of offsets.
enum class IntegerType : std::uint8_t { int32, int64 };

[[nodiscard]] std::string_view name(DataType type);
[[nodiscard]] std::string_view name(IntegerType type);

/// Bytes of one element.
[[nodiscard]] std::int64_t size_of(DataType type);
[[nodiscard]] std::int64_t size_of(IntegerType type);

/// The type with that name ("float16", "int64"). Throws Error(invalid_argument) that lists the
/// names.
[[nodiscard]] DataType parse_data_type(std::string_view name);
[[nodiscard]] IntegerType parse_integer_type(std::string_view name);

}  // namespace jitbag
