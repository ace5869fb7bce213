#include "table_rows.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "elements.hpp"

namespace jitbag::test {
namespace {

bool is_integer(DataType type) {
  return type == DataType::int8 || type == DataType::int4;
}

bool is_signed(const ForwardSpec& spec) {
  return !spec.row_scale.has_bias;
}

double largest_code(const ForwardSpec& spec) {
  switch (spec.table_type) {
    case DataType::int8:
      return is_signed(spec) ? 128 : 255;
    case DataType::int4:
      return is_signed(spec) ? 8 : 15;
    case DataType::float8_e4m3:
      return 448;
    default:
      return 57344;
  }
}

double code_at(const ForwardSpec& spec, const std::byte* codes, std::int64_t column) {
  if (!is_integer(spec.table_type)) return load_element(codes + column, spec.table_type);
  const bool is_int8 = spec.table_type == DataType::int8;
  const int bits = is_int8 ? 8 : 4;
  const int byte = std::to_integer<int>(codes[is_int8 ? column : column / 2]);
  const int code = is_int8 || column % 2 == 0 ? byte & ((1 << bits) - 1) : byte >> 4;
  return is_signed(spec) && code >= 1 << (bits - 1) ? code - (1 << bits) : code;
}

double special_value(Random& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::array values{infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  return random.one_of(values);
}

/// A code of any bits that mean a finite number.
std::byte random_float8(DataType type, Random& random) {
  for (;;) {
    const auto code = static_cast<std::byte>(random.below(256));
    if (std::isfinite(load_element(&code, type))) return code;
  }
}

void write_floats(DataType type, std::byte* to, std::int64_t dim, double special, Random& random) {
  for (std::int64_t column = 0; column < dim; ++column) {
    const double value = random.chance(special) ? special_value(random) : random.between(-2, 2);
    store_element(to + column * size_of(type), type, value);
  }
}

void write_codes(const ForwardSpec& spec, std::byte* codes, double special, Random& random) {
  if (is_integer(spec.table_type)) {
    for (std::int64_t i = 0; i < row_bytes(spec); ++i) {
      codes[i] = static_cast<std::byte>(random.below(256));
    }
  } else if (spec.row_scale.place == RowScale::Place::nowhere) {
    write_floats(spec.table_type, codes, spec.dim, 0, random);
  } else {
    for (std::int64_t column = 0; column < spec.dim; ++column) {
      codes[column] = random.chance(special) ? std::byte{0x7f}  // NaN in both formats
                                             : random_float8(spec.table_type, random);
    }
  }
}

void write_scale(const ForwardSpec& spec, std::byte* to, Random& random) {
  const DataType type = spec.row_scale.type;
  store_element(to, type, random.between(1, 2) / largest_code(spec));
  if (spec.row_scale.has_bias) store_element(to + size_of(type), type, random.between(-2, 1));
}

}  // namespace

std::int64_t packed_row_bytes(const ForwardSpec& spec) {
  ForwardSpec without_gap = spec;
  without_gap.row_stride = 0;
  return row_stride_bytes(validated(without_gap));
}

std::int64_t scale_bytes(const ForwardSpec& spec) {
  const RowScale& scale = spec.row_scale;
  if (!is_quantised(spec.table_type) || scale.place == RowScale::Place::nowhere) return 0;
  return size_of(scale.type) * (scale.has_bias ? 2 : 1);
}

void write_random_row(const ForwardSpec& spec, std::byte* row, std::byte* scale, double special,
                      Random& random) {
  if (!is_quantised(spec.table_type)) {
    write_floats(spec.table_type, row, spec.dim, special, random);
    return;
  }
  write_codes(spec, row + spec.row_scale.codes_offset, special, random);
  if (spec.row_scale.place == RowScale::Place::in_row) scale = row + spec.row_scale.offset;
  if (scale_bytes(spec) > 0) write_scale(spec, scale, random);
}

TableRows::TableRows(const ForwardSpec& validated_spec, const void* table, const void* scales)
    : spec_(validated_spec),
      table_(static_cast<const std::byte*>(table)),
      scales_(static_cast<const std::byte*>(scales)) {}

const std::byte* TableRows::row_at(std::int64_t row) const {
  return table_ + row * row_stride_bytes(spec_);
}

TableRows::Scale TableRows::scale_of(std::int64_t row) const {
  const RowScale& scale = spec_.row_scale;
  if (scale.place == RowScale::Place::nowhere) return {};
  const std::byte* const at = scale.place == RowScale::Place::in_row
                                  ? row_at(row) + scale.offset
                                  : scales_ + row * scale_bytes(spec_);
  return {load_element(at, scale.type),
          scale.has_bias ? load_element(at + size_of(scale.type), scale.type) : 0};
}

double TableRows::value(std::int64_t row, std::int64_t column) const {
  if (!is_quantised(spec_.table_type)) {
    return load_element(row_at(row) + column * size_of(spec_.table_type), spec_.table_type);
  }
  const auto [scale, bias] = scale_of(row);
  return scale * code_at(spec_, row_at(row) + spec_.row_scale.codes_offset, column) + bias;
}

double TableRows::largest_term(std::int64_t row) const {
  if (scale_bytes(spec_) == 0) return 0;
  const auto [scale, bias] = scale_of(row);
  return std::abs(scale) * largest_code(spec_) + std::abs(bias);
}

}  // namespace jitbag::test
