#include "jitbag/types.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>

#include "jitbag/error.hpp"

namespace jitbag {
namespace {

constexpr std::array data_types{DataType::float32,     DataType::float16,    DataType::bfloat16,
                                DataType::float64,     DataType::int8,       DataType::int4,
                                DataType::float8_e4m3, DataType::float8_e5m2};
constexpr std::array integer_types{IntegerType::int32, IntegerType::int64};

/// The enumerator with that name, or a sentence with all the names.
template <class Enumerators>
auto parse(std::string_view text, std::string_view what, const Enumerators& all) {
  std::string names;
  for (const auto one : all) {
    if (text == name(one)) return one;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(one));
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("\"{}\" is not {}; use one of: {}.", text, what, names));
}

}  // namespace

std::string_view name(DataType type) {
  switch (type) {
    case DataType::float32:
      return "float32";
    case DataType::float16:
      return "float16";
    case DataType::bfloat16:
      return "bfloat16";
    case DataType::float64:
      return "float64";
    case DataType::int8:
      return "int8";
    case DataType::int4:
      return "int4";
    case DataType::float8_e4m3:
      return "float8_e4m3";
    case DataType::float8_e5m2:
      return "float8_e5m2";
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

std::int64_t bits_of(DataType type) {
  switch (type) {
    case DataType::float64:
      return 64;
    case DataType::float32:
      return 32;
    case DataType::float16:
    case DataType::bfloat16:
      return 16;
    case DataType::int8:
    case DataType::float8_e4m3:
    case DataType::float8_e5m2:
      return 8;
    case DataType::int4:
      return 4;
  }
  return 0;
}

std::int64_t size_of(DataType type) {
  return (bits_of(type) + 7) / 8;
}

std::int64_t size_of(IntegerType type) {
  return type == IntegerType::int32 ? 4 : 8;
}

DataType parse_data_type(std::string_view text) {
  return parse(text, "a data type", data_types);
}

IntegerType parse_integer_type(std::string_view text) {
  return parse(text, "an integer type", integer_types);
}

}  // namespace jitbag
