#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "jitbag/types.hpp"

namespace jitbag::tools {

/// Integers from a file, in C order.
struct IntegerArray {
  IntegerType type = IntegerType::int64;
  std::vector<std::int64_t> shape;  ///< one or two dimensions
  std::vector<std::byte> bytes;     ///< the elements: aligned for their type
};

/// Reads a NumPy .npy file (format 1.0, 2.0 or 3.0) of little-endian int32 or int64, in one or two
/// dimensions. Throws Error: io_failed for a file that cannot be read or is damaged,
/// invalid_argument for a whole one with something else in it.
[[nodiscard]] IntegerArray read_npy(const std::filesystem::path& path);

}  // namespace jitbag::tools
