#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/floats.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

/// Readers of arrays and tables of any type. Nothing need be aligned.
namespace jitbag::host {

template <class Stored>
Stored load(const std::byte* array, std::int64_t index) {
  Stored stored;
  std::memcpy(&stored, array + index * static_cast<std::int64_t>(sizeof stored), sizeof stored);
  return stored;
}

/// Calls `use` with a function that gives element `index` of an array of the type, as the float or
/// double that it is exactly. Codes stand for themselves.
template <class Use>
decltype(auto) with_reader(DataType type, bool signed_codes, Use&& use) {
  using Bytes = const std::byte*;
  switch (type) {
    case DataType::float32:
      break;
    case DataType::float16:
      return use([](Bytes a, std::int64_t i) { return widen_float16(load<std::uint16_t>(a, i)); });
    case DataType::bfloat16:
      return use([](Bytes a, std::int64_t i) { return widen_bfloat16(load<std::uint16_t>(a, i)); });
    case DataType::float64:
      return use([](Bytes a, std::int64_t i) { return load<double>(a, i); });
    case DataType::int8:
      if (signed_codes) {
        return use(
            [](Bytes a, std::int64_t i) { return static_cast<float>(load<std::int8_t>(a, i)); });
      }
      return use(
          [](Bytes a, std::int64_t i) { return static_cast<float>(load<std::uint8_t>(a, i)); });
    case DataType::int4:
      return use([signed_codes](Bytes a, std::int64_t i) {
        const int code = (load<std::uint8_t>(a, i / 2) >> (i % 2 * 4)) & 0xf;
        return static_cast<float>(signed_codes && code >= 8 ? code - 16 : code);
      });
    case DataType::float8_e4m3:
      return use(
          [](Bytes a, std::int64_t i) { return widen_float8_e4m3(load<std::uint8_t>(a, i)); });
    case DataType::float8_e5m2:
      return use(
          [](Bytes a, std::int64_t i) { return widen_float8_e5m2(load<std::uint8_t>(a, i)); });
  }
  return use([](Bytes a, std::int64_t i) { return load<float>(a, i); });
}

/// An array of floats of any type, read as Number.
class FloatArray {
 public:
  FloatArray(const void* data, DataType type)
      : data_(static_cast<const std::byte*>(data)), type_(type) {}

  template <class Number>
  Number read(std::int64_t index) const {
    return with_reader(type_, false,
                       [&](auto reader) { return static_cast<Number>(reader(data_, index)); });
  }

 private:
  const std::byte* data_;
  DataType type_;
};

/// The rows of a table of any type, dequantised in Number's arithmetic.
class TableRows {
 public:
  TableRows(const ForwardSpec& validated_spec, const ForwardArguments& arguments)
      : table_(static_cast<const std::byte*>(arguments.table)),
        scales_(static_cast<const std::byte*>(arguments.scales)),
        type_(validated_spec.table_type),
        scale_(validated_spec.row_scale),
        stride_bytes_(row_stride_bytes(validated_spec)) {}

  template <class Number>
  Number element(std::int64_t row, std::int64_t column) const {
    Number value = 0;
    widen_columns(row, column, 1, &value);
    return value;
  }

  /// The whole row, to `values[dim]`.
  template <class Number>
  void widen(std::int64_t row, std::int64_t dim, Number* values) const {
    widen_columns(row, 0, dim, values);
  }

 private:
  template <class Number>
  void widen_columns(std::int64_t row, std::int64_t first, std::int64_t count,
                     Number* values) const {
    const std::byte* const begin = table_ + row * stride_bytes_;
    const bool scaled = is_quantised(type_) && scale_.place != RowScale::Place::nowhere;
    with_reader(type_, !scale_.has_bias, [&](auto reader) {
      const std::byte* const codes = begin + scale_.codes_offset;
      for (std::int64_t i = 0; i < count; ++i) {
        values[i] = static_cast<Number>(reader(codes, first + i));
      }
    });
    if (scaled) apply_scale(row, begin, count, values);
  }

  template <class Number>
  void apply_scale(std::int64_t row, const std::byte* begin, std::int64_t count,
                   Number* values) const {
    const int parts = scale_.has_bias ? 2 : 1;
    const bool in_row = scale_.place == RowScale::Place::in_row;
    const FloatArray place(in_row ? begin + scale_.offset : scales_, scale_.type);
    const std::int64_t index = in_row ? 0 : row * parts;
    const auto scale = place.read<Number>(index);
    const auto bias = scale_.has_bias ? place.read<Number>(index + 1) : Number{0};
    for (std::int64_t i = 0; i < count; ++i) values[i] = scale * values[i] + bias;
  }

  const std::byte* table_;
  const std::byte* scales_;
  DataType type_;
  RowScale scale_;
  std::int64_t stride_bytes_;
};

}  // namespace jitbag::host
