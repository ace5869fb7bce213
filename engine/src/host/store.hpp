#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/floats.hpp"
#include "jitbag/types.hpp"

namespace jitbag::host {

template <class Stored>
void store(std::byte* array, std::int64_t index, Stored stored) {
  std::memcpy(array + index * static_cast<std::int64_t>(sizeof stored), &stored, sizeof stored);
}

/// Writes element `index` of an array of a float type, rounded once to the nearest.
inline void store_float(DataType type, std::byte* array, std::int64_t index, double value) {
  switch (type) {
    case DataType::float16:
      return store(array, index, round_to_float16(narrowed_to_odd(value)));
    case DataType::bfloat16:
      return store(array, index, round_to_bfloat16(narrowed_to_odd(value)));
    case DataType::float64:
      return store(array, index, value);
    default:
      return store(array, index, static_cast<float>(value));
  }
}

}  // namespace jitbag::host
