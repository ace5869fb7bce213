#include "elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "jitbag/host.hpp"

namespace jitbag::test {
namespace {

template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
T load(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

void store_element(std::byte* to, DataType type, double value) {
  const auto narrow = static_cast<float>(value);
  switch (type) {
    case DataType::float64:
      return store(to, value);
    case DataType::float32:
      return store(to, narrow);
    case DataType::float16:
      return store(to, host::float16_from(narrow));
    case DataType::bfloat16:
      return store(to, host::bfloat16_from(narrow));
    case DataType::float8_e4m3:
      return store(to, host::float8_e4m3_from(narrow));
    case DataType::float8_e5m2:
      return store(to, host::float8_e5m2_from(narrow));
    default:
      throw std::logic_error("Codes of integers are not elements.");
  }
}

double load_element(const std::byte* from, DataType type) {
  switch (type) {
    case DataType::float64:
      return load<double>(from);
    case DataType::float32:
      return static_cast<double>(load<float>(from));
    case DataType::float16:
      return static_cast<double>(host::float_from_float16(load<std::uint16_t>(from)));
    case DataType::bfloat16:
      return static_cast<double>(host::float_from_bfloat16(load<std::uint16_t>(from)));
    case DataType::float8_e4m3:
      return static_cast<double>(host::float_from_float8_e4m3(load<std::uint8_t>(from)));
    case DataType::float8_e5m2:
      return static_cast<double>(host::float_from_float8_e5m2(load<std::uint8_t>(from)));
    default:
      throw std::logic_error("Codes of integers are not elements.");
  }
}

void store_integer(std::byte* to, IntegerType type, std::int64_t value) {
  if (type == IntegerType::int64) {
    store(to, value);
  } else {
    store(to, static_cast<std::int32_t>(value));
  }
}

std::int64_t load_integer(const std::byte* from, IntegerType type) {
  return type == IntegerType::int64 ? load<std::int64_t>(from) : load<std::int32_t>(from);
}

double half_ulp(DataType type, double value) {
  struct Format {
    int mantissa_bits, least_exponent;
  };
  const Format format = type == DataType::float64   ? Format{52, -1022}
                        : type == DataType::float32 ? Format{23, -126}
                        : type == DataType::float16 ? Format{10, -14}
                                                    : Format{7, -126};
  const int exponent = value == 0 ? format.least_exponent : std::ilogb(value);
  return std::ldexp(0.5, std::max(exponent, format.least_exponent) - format.mantissa_bits);
}

}  // namespace jitbag::test
