#include "support/quantise_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "jitbag/host.hpp"

namespace jitbag::test {
namespace {

constexpr std::array code_types{DataType::int8, DataType::int4, DataType::float8_e4m3,
                                DataType::float8_e5m2};
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

bool is_float8(DataType type) {
  return type == DataType::float8_e4m3 || type == DataType::float8_e5m2;
}

std::int64_t scale_bytes(const RowScale& scale) {
  return size_of(scale.type) * (scale.has_bias ? 2 : 1);
}

/// Bytes of a row from its begin to the last one that holds something.
std::int64_t used_bytes(const ForwardSpec& spec) {
  const RowScale& scale = spec.row_scale;
  const std::int64_t codes_end = scale.codes_offset + row_bytes(spec);
  return scale.place == RowScale::Place::in_row
             ? std::max(codes_end, scale.offset + scale_bytes(scale))
             : codes_end;
}

/// Of both the arrays apart and the places within rows.
std::byte* scale_of(const ForwardSpec& spec, QuantisedTable& table, std::int64_t row) {
  const RowScale& scale = spec.row_scale;
  switch (scale.place) {
    case RowScale::Place::nowhere:
      return nullptr;
    case RowScale::Place::apart:
      return table.scales.data() + row * scale_bytes(scale);
    case RowScale::Place::in_row:
      return table.bytes.data() + table.begin + row * spec.row_stride + scale.offset;
  }
  return nullptr;
}

/// A scale or a bias.
float read(DataType type, const std::byte* at) {
  std::uint16_t half = 0;
  std::memcpy(&half, at, sizeof half);
  if (type == DataType::float16) return host::float_from_float16(half);
  float value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void write(DataType type, std::byte* at, float value) {
  if (type == DataType::float16) {
    const std::uint16_t half = host::float16_from(value);
    std::memcpy(at, &half, sizeof half);
  } else {
    std::memcpy(at, &value, sizeof value);
  }
}

/// NaN has many patterns; of a row's scale and bias it gets the one that `write` knows.
void make_nans_one(const ForwardSpec& spec, QuantisedTable& table) {
  const RowScale& scale = spec.row_scale;
  for (std::int64_t row = 0; row < table.num_rows; ++row) {
    std::byte* const first = scale_of(spec, table, row);
    if (first == nullptr) return;
    for (std::byte* at = first; at != first + scale_bytes(scale); at += size_of(scale.type)) {
      if (std::isnan(read(scale.type, at))) write(scale.type, at, not_a_number);
    }
  }
}

std::string first_difference(const char* what, const std::vector<std::byte>& actual,
                             const std::vector<std::byte>& expected, std::size_t begin,
                             std::int64_t stride) {
  const auto [at, other] = std::mismatch(actual.begin(), actual.end(), expected.begin());
  if (at == actual.end()) return {};
  const std::int64_t byte = at - actual.begin() - static_cast<std::int64_t>(begin);
  return fmt::format("Byte {} of row {} of the {} is {:#04x} instead of {:#04x}.", byte % stride,
                     byte / stride, what, static_cast<int>(*at), static_cast<int>(*other));
}

}  // namespace

std::vector<ForwardSpec> quantiser_specs() {
  using enum RowScale::Place;
  constexpr std::array<std::int64_t, 11> dims = {1, 2, 3, 7, 32, 33, 64, 65, 100, 128, 513};
  std::vector<ForwardSpec> specs;
  const auto add = [&](DataType type, auto layout_for_dim, std::int64_t gap = 0) {
    ForwardSpec spec;
    spec.dim = dims[specs.size() * 5 % dims.size()];
    spec.table_type = type;
    spec.alignment = specs.size() % 2 == 0 ? 16 : 1;
    spec.row_scale = layout_for_dim(spec.dim);
    spec.row_stride = gap == 0 ? 0 : validated(spec).row_stride + gap;
    specs.push_back(validated(spec));
  };
  const auto always = [](const RowScale& scale) { return [scale](std::int64_t) { return scale; }; };
  for (const DataType type : code_types) {
    add(type, always({.place = nowhere}));
    add(type, always({.place = nowhere, .codes_offset = 3}), 2);
    for (const DataType scale : {DataType::float32, DataType::float16}) {
      for (const bool has_bias : {false, true}) {
        add(type, always({.place = apart, .type = scale, .has_bias = has_bias}));
        // Before the codes, after them, and both at odd bytes.
        add(type, always({in_row, scale, has_bias, 0, 8}), 5);
        add(type, [&](std::int64_t dim) { return RowScale{in_row, scale, has_bias, dim + 2, 1}; });
      }
    }
  }
  add(DataType::int8, always(fbgemm::inference_row()), 12);
  add(DataType::int4, always(fbgemm::inference_row()), 12);
  add(DataType::int8, fbgemm::fused_8bit_row);
  add(DataType::int4, fbgemm::fused_4bit_row);
  return specs;
}

std::vector<float> rows_to_quantise(std::int64_t num_rows, std::int64_t dim, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> integer(-1024, 1024);
  constexpr float largest = std::numeric_limits<float>::max();
  constexpr float smallest = std::numeric_limits<float>::denorm_min();
  std::vector<float> values;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    const float common = normal(random);
    for (std::int64_t column = 0; column < dim; ++column) {
      const float value = normal(random);
      const auto one_of = [&](float a, float b) { return random() % 2 == 0 ? a : b; };
      const auto of_kind = [&]() -> float {
        switch (row % 14) {
          case 0:
          case 1:
            return value;
          case 2:
            return common;
          case 3:
            return one_of(0.0f, -0.0f);
          case 4:  // ties: an extent of 255, and halves
            return column < 2 ? 255.0f * static_cast<float>(column)
                              : static_cast<float>(integer(random) & 511) / 2;
          case 5:  // ties without a bias
            return column == 0 ? -127.0f : static_cast<float>(integer(random) % 255) / 2;
          case 6:
            return smallest * static_cast<float>(integer(random));
          case 7:  // no float16 has such a scale
            return value * 1e7f;
          case 8:
            return value * 1e-7f;
          case 9:
            return one_of(one_of(largest, -largest), value);
          case 10:
            return column == dim / 2 ? value * 1000 : value;
          case 11:
            return std::abs(value) + 3;
          case 12:
            return -std::abs(value) * 1e5f;
          default:
            return std::ldexp(value, integer(random) % 100);
        }
      };
      values.push_back(of_kind());
    }
  }
  return values;
}

QuantisedTable::QuantisedTable(const ForwardSpec& spec, std::int64_t rows)
    : num_rows(rows), begin(spec.alignment == 1 ? 1 : 0) {
  const std::int64_t table_bytes = rows == 0 ? 0 : (rows - 1) * spec.row_stride + used_bytes(spec);
  bytes.resize(begin + static_cast<std::size_t>(table_bytes), std::byte{0xff});
  if (spec.row_scale.place == RowScale::Place::apart) {
    scales.resize(static_cast<std::size_t>(rows * scale_bytes(spec.row_scale)), std::byte{0xff});
  }
}

QuantiseArguments QuantisedTable::arguments(const float* values) {
  QuantiseArguments arguments;
  arguments.values = values;
  arguments.num_rows = num_rows;
  arguments.table = bytes.data() + begin;
  arguments.scales = scales.empty() ? nullptr : scales.data();
  return arguments;
}

QuantisedTable quantised_on_host(const ForwardSpec& spec, const std::vector<float>& values) {
  QuantisedTable table(spec, static_cast<std::int64_t>(values.size()) / spec.dim);
  host::quantise(spec, table.arguments(values.data()));
  return table;
}

QuantisedTable spoil_rows(const ForwardSpec& spec, const QuantisedTable& table,
                          std::vector<float>& values) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::array spoilers = {not_a_number, infinity, -infinity};
  QuantisedTable expected = table;
  for (std::int64_t row = 1; row < table.num_rows; row += 3) {
    const std::int64_t column = row % spec.dim;
    values[static_cast<std::size_t>(row * spec.dim + column)] = spoilers[row / 3 % 3];
    std::byte* codes = expected.bytes.data() + expected.begin + row * spec.row_stride +
                       spec.row_scale.codes_offset;
    std::fill_n(codes, row_bytes(spec), std::byte{0});
    if (std::byte* scale = scale_of(spec, expected, row)) {
      const DataType type = spec.row_scale.type;
      write(type, scale, not_a_number);
      if (spec.row_scale.has_bias) {
        write(type, scale + size_of(type), is_float8(spec.table_type) ? 0 : not_a_number);
      }
    }
  }
  return expected;
}

std::string difference(const QuantisedTable& actual, const QuantisedTable& expected,
                       const ForwardSpec& spec) {
  QuantisedTable a = actual;
  QuantisedTable b = expected;
  make_nans_one(spec, a);
  make_nans_one(spec, b);
  std::string problem = first_difference("table", a.bytes, b.bytes, a.begin, spec.row_stride);
  if (problem.empty()) {
    problem = first_difference("scales", a.scales, b.scales, 0, scale_bytes(spec.row_scale));
  }
  return problem;
}

}  // namespace jitbag::test
