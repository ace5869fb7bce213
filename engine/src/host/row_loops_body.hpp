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

/// Adds `vectors` vectors of columns of every row. The sums stay in registers.
template <class Element, int vectors>
JITBAG_ROW_LOOPS_TARGET void add_columns(const std::byte* first, const std::uint64_t* row_offsets,
                                         int count, float* sums) {
  constexpr std::int64_t vector_bytes = lanes * sizeof(typename Element::Stored);
  // Vector by vector: a copy of all of them would go through memory.
  Floats totals[vectors];
#pragma GCC unroll 8
  for (int vector = 0; vector < vectors; ++vector) {
    std::memcpy(&totals[vector], sums + vector * lanes, sizeof(Floats));
  }
  for (int row = 0; row < count; ++row) {
    const std::byte* from = first + row_offsets[row];
#pragma GCC unroll 8
    for (int vector = 0; vector < vectors; ++vector) {
      Floats values;
      Element::load(from + vector * vector_bytes, values);
      totals[vector] += values;
    }
  }
#pragma GCC unroll 8
  for (int vector = 0; vector < vectors; ++vector) {
    std::memcpy(sums + vector * lanes, &totals[vector], sizeof(Floats));
  }
}

template <class Element>
JITBAG_ROW_LOOPS_TARGET void add_rows(const std::byte* table, const std::uint64_t* row_offsets,
                                      int count, std::int64_t dim, float* sums) {
  using Stored = typename Element::Stored;
  std::int64_t column = 0;
  for (; column + 8 * lanes <= dim; column += 8 * lanes) {
    add_columns<Element, 8>(table + column * sizeof(Stored), row_offsets, count, sums + column);
  }
  for (; column + 2 * lanes <= dim; column += 2 * lanes) {
    add_columns<Element, 2>(table + column * sizeof(Stored), row_offsets, count, sums + column);
  }
  for (; column + lanes <= dim; column += lanes) {
    add_columns<Element, 1>(table + column * sizeof(Stored), row_offsets, count, sums + column);
  }
  for (; column < dim; ++column) {
    for (int row = 0; row < count; ++row) {
      Stored stored;
      std::memcpy(&stored, table + row_offsets[row] + column * sizeof stored, sizeof stored);
      sums[column] += Element::widen(stored);
    }
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
  }
  return nullptr;
}

decltype(RowLoops::write_quotients) write_quotients_of(DataType output) {
  switch (output) {
    case DataType::float32:
      return write_quotients<Float32>;
    case DataType::float16:
      return write_quotients<Float16>;
    case DataType::bfloat16:
      return write_quotients<BFloat16>;
  }
  return nullptr;
}

}  // namespace
}  // namespace jitbag::host
