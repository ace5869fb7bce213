#include "jitbag/types.hpp"

#include <spdlog/fmt/fmt.h>

#include "jitbag/error.hpp"

namespace jitbag {

std::string_view name(DataType type) {
  switch (type) {
    case DataType::float32:
      return "float32";
    case DataType::float16:
      return "float16";
    case DataType::bfloat16:
      return "bfloat16";
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} is not the number of a DataType; use one of its enumerators.",
                          static_cast<int>(type)));
}

std::string_view name(IntegerType type) {
  switch (type) {
    case IntegerType::int32:
      return "int32";
    case IntegerType::int64:
      return "int64";
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} is not the number of an IntegerType; use one of its enumerators.",
                          static_cast<int>(type)));
}

std::int64_t size_of(DataType type) {
  return type == DataType::float32 ? 4 : 2;
}

std::int64_t size_of(IntegerType type) {
  return type == IntegerType::int32 ? 4 : 8;
}

DataType parse_data_type(std::string_view text) {
  for (const auto type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
    if (text == name(type)) return type;
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("\"{}\" is not a data type; use float32, float16 or bfloat16.", text));
}

IntegerType parse_integer_type(std::string_view text) {
  for (const auto type : {IntegerType::int32, IntegerType::int64}) {
    if (text == name(type)) return type;
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("\"{}\" is not an integer type; use int32 or int64.", text));
}

}  // namespace jitbag
