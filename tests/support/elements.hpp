#pragma once

#include <cstddef>
#include <cstdint>

#include "jitbag/types.hpp"

namespace jitbag::test {

/// Single numbers of the types of weights, scales, outputs and ids, at any address.
void store_element(std::byte* to, DataType type, double value);
[[nodiscard]] double load_element(const std::byte* from, DataType type);

void store_integer(std::byte* to, IntegerType type, std::int64_t value);
[[nodiscard]] std::int64_t load_integer(const std::byte* from, IntegerType type);

/// Half the distance between two neighbours of the type near a value.
[[nodiscard]] double half_ulp(DataType type, double value);

}  // namespace jitbag::test
