#pragma once

/// The text of the row loops, for the two source files that compile it for different processors:
/// each defines JITBAG_ROW_LOOPS_TARGET, an attribute of every function here, and in
/// `jitbag::host::(anonymous)` the struct Float16, with the members that Float32 has, and
/// `load_halves`, which widens eight integers of 16 bits. All of it is local to the file, so that
/// no code for the newer processor can be linked into another path.

#include <cstring>

#include "host/row_loops.hpp"
#include "host/row_vectors.hpp"

namespace jitbag::host {
namespace {

struct Float32 {
  using Stored = float;

  JITBAG_ROW_LOOPS_TARGET static void load(const std::byte* from, Floats& values) {
    std::memcpy(&values, from, sizeof values);
  }
  JITBAG_ROW_LOOPS_TARGET static void store(const Floats& values, std::byte* to) {
    std::memcpy(to, &values, sizeof values);
  }
  static float widen(float value) { return value; }
  static float narrow(float value) { return value; }
};

struct BFloat16 {
  using Stored = std::uint16_t;

  JITBAG_ROW_LOOPS_TARGET static void load(const std::byte* from, Floats& values) {
    Words words;
    load_halves(from, words);
    words <<= 16;
    std::memcpy(&values, &words, sizeof values);
  }
  JITBAG_ROW_LOOPS_TARGET static void store(const Floats& values, std::byte* to) {
    Words bits;
    std::memcpy(&bits, &values, sizeof bits);
    const Words rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    const Words kept = values == values ? rounded : bits | 0x400000u;
    const Halves halves = __builtin_convertvector(kept >> 16, Halves);
    std::memcpy(to, &halves, sizeof halves);
  }
  static float widen(std::uint16_t bits) { return widen_bfloat16(bits); }
  static std::uint16_t narrow(float value) { return round_to_bfloat16(value); }
};

/// As an output.
struct Float64 {
  using Stored = double;

  JITBAG_ROW_LOOPS_TARGET static void store(const Floats& values, std::byte* to) {
    const Doubles wide = __builtin_convertvector(values, Doubles);
    std::memcpy(to, &wide, sizeof wide);
  }
  static double narrow(float value) { return static_cast<double>(value); }
};

/// Adds `vectors` vectors of columns of every row, which begin at `first` in row 0. The sums stay
/// in registers.
template <class Element, bool weighted, int vectors>
JITBAG_ROW_LOOPS_TARGET void add_columns(const std::byte* first, std::uint64_t row_bytes,
                                         const RowBlock<float>& block, float* sums) {
  constexpr std::int64_t vector_bytes = lanes * sizeof(typename Element::Stored);
  // Vector by vector: a copy of all of them would go through memory.
  Floats totals[vectors];
#pragma GCC unroll 8
  for (int vector = 0; vector < vectors; ++vector) {
    std::memcpy(&totals[vector], sums + vector * lanes, sizeof(Floats));
  }
  for (int i = 0; i < block.count; ++i) {
    const std::byte* from = first + static_cast<std::uint64_t>(block.rows[i]) * row_bytes;
#pragma GCC unroll 8
    for (int vector = 0; vector < vectors; ++vector) {
      Floats values;
      Element::load(from + vector * vector_bytes, values);
      if constexpr (weighted) values *= block.weights[i];
      totals[vector] += values;
    }
  }
#pragma GCC unroll 8
  for (int vector = 0; vector < vectors; ++vector) {
    std::memcpy(sums + vector * lanes, &totals[vector], sizeof(Floats));
  }
}

/// Adds columns from `column` on, so many vectors at a time, and returns the first one that is
/// left.
template <class Element, bool weighted, int vectors>
JITBAG_ROW_LOOPS_TARGET std::int64_t add_vectors(const std::byte* table, std::uint64_t row_bytes,
                                                 const RowBlock<float>& block, std::int64_t dim,
                                                 std::int64_t column, float* sums) {
  for (; column + vectors * lanes <= dim; column += vectors * lanes) {
    const std::byte* const first = table + column * sizeof(typename Element::Stored);
    add_columns<Element, weighted, vectors>(first, row_bytes, block, sums + column);
  }
  return column;
}

template <class Element, bool weighted>
JITBAG_ROW_LOOPS_TARGET void add_all_columns(const std::byte* table, std::uint64_t row_bytes,
                                             const RowBlock<float>& block, std::int64_t dim,
                                             float* sums) {
  using Stored = typename Element::Stored;
  std::int64_t column = 0;
  column = add_vectors<Element, weighted, 8>(table, row_bytes, block, dim, column, sums);
  column = add_vectors<Element, weighted, 2>(table, row_bytes, block, dim, column, sums);
  column = add_vectors<Element, weighted, 1>(table, row_bytes, block, dim, column, sums);
  for (; column < dim; ++column) {
    for (int i = 0; i < block.count; ++i) {
      Stored stored;
      const std::byte* const row = table + static_cast<std::uint64_t>(block.rows[i]) * row_bytes;
      std::memcpy(&stored, row + column * sizeof stored, sizeof stored);
      const float value = Element::widen(stored);
      sums[column] += weighted ? block.weights[i] * value : value;
    }
  }
}

template <class Element>
JITBAG_ROW_LOOPS_TARGET void add_rows(const std::byte* table, std::uint64_t row_bytes,
                                      const RowBlock<float>& block, std::int64_t dim, float* sums) {
  if (block.weighted) {
    add_all_columns<Element, true>(table, row_bytes, block, dim, sums);
  } else {
    add_all_columns<Element, false>(table, row_bytes, block, dim, sums);
  }
}

template <class Element>
JITBAG_ROW_LOOPS_TARGET void write_quotients(const float* sums, float divisor, std::int64_t dim,
                                             std::byte* output) {
  using Stored = typename Element::Stored;
  std::int64_t column = 0;
  for (; column + lanes <= dim; column += lanes) {
    Floats values;
    std::memcpy(&values, sums + column, sizeof values);
    values /= divisor;
    Element::store(values, output + column * sizeof(Stored));
  }
  for (; column < dim; ++column) {
    const Stored stored = Element::narrow(sums[column] / divisor);
    std::memcpy(output + column * sizeof stored, &stored, sizeof stored);
  }
}

decltype(RowLoops::add_rows) add_rows_of(DataType table) {
  switch (table) {
    case DataType::float32:
      return add_rows<Float32>;
    case DataType::float16:
      return add_rows<Float16>;
    case DataType::bfloat16:
      return add_rows<BFloat16>;
    default:
      return nullptr;
  }
}

decltype(RowLoops::write_quotients) write_quotients_of(DataType output) {
  switch (output) {
    case DataType::float32:
      return write_quotients<Float32>;
    case DataType::float16:
      return write_quotients<Float16>;
    case DataType::bfloat16:
      return write_quotients<BFloat16>;
    case DataType::float64:
      return write_quotients<Float64>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace jitbag::host
