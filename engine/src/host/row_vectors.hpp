#pragma once

#include <cstdint>

#include "host/floats.hpp"

namespace jitbag::host {

/// Vectors of eight, as the compiler knows them on any processor. They are passed by reference:
/// how they are passed by value depends on the processor.
inline constexpr std::int64_t lanes = 8;
using Floats = float __attribute__((vector_size(lanes * sizeof(float))));
using Doubles = double __attribute__((vector_size(lanes * sizeof(double))));
using Words = std::uint32_t __attribute__((vector_size(lanes * sizeof(std::uint32_t))));
using Halves = std::uint16_t __attribute__((vector_size(lanes * sizeof(std::uint16_t))));

}  // namespace jitbag::host
