#include <cstddef>
#include <cstring>

#include "host/row_vectors.hpp"

#define JITBAG_ROW_LOOPS_TARGET

namespace jitbag::host {
namespace {

void load_halves(const std::byte* from, Words& words) {
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  words = __builtin_convertvector(halves, Words);
}

struct Float16 {
  using Stored = std::uint16_t;

  static void load(const std::byte* from, Floats& values) {
    Halves halves;
    std::memcpy(&halves, from, sizeof halves);
    for (std::int64_t lane = 0; lane < lanes; ++lane) values[lane] = widen(halves[lane]);
  }
  static void store(const Floats& values, std::byte* to) {
    Halves halves;
    for (std::int64_t lane = 0; lane < lanes; ++lane) halves[lane] = narrow(values[lane]);
    std::memcpy(to, &halves, sizeof halves);
  }
  static float widen(std::uint16_t bits) { return widen_float16(bits); }
  static std::uint16_t narrow(float value) { return round_to_float16(value); }
};

}  // namespace
}  // namespace jitbag::host

#include "host/row_loops_body.hpp"

namespace jitbag::host {

RowLoops portable_row_loops(DataType table, DataType output) {
  return {add_rows_of(table), write_quotients_of(output)};
}

}  // namespace jitbag::host
