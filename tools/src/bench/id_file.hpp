#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jitbag/forward_spec.hpp"

namespace jitbag::tools::bench {

/// Real ids and the bags that they are in.
struct IdFile {
  BagLayout bags = FixedBags{};
  IntegerType id_type = IntegerType::int64;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> offsets;  ///< csr only
  std::int64_t batch = 0;
  std::int64_t largest_id = 0;
};

/// Where they are: `offsets` is empty for ids [batch, bag].
struct IdFileNames {
  std::string indices;
  std::string offsets;
  OffsetsEnd offsets_end = OffsetsEnd::included;
};

/// Throws Error for a file that cannot be read, or whose bags do not
/// lie within its ids.
[[nodiscard]] IdFile read_id_file(const IdFileNames& names);

}  // namespace jitbag::tools::bench
