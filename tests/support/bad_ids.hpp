#pragma once

#include <cstdint>
#include <optional>

#include "forward_case.hpp"

namespace jitbag::test {

/// Where a bag is among the ids of its case. Offsets outside of the ids are cut to them.
struct BagRange {
  std::int64_t begin, end;
};
[[nodiscard]] BagRange bag_range(const ForwardCase& forward_case, std::int64_t bag);

/// What BadIds::report must report.
struct BadPosition {
  std::int64_t position;  ///< within the ids
  std::int64_t id;
};
[[nodiscard]] std::optional<BadPosition> lowest_bad_id(const ForwardCase& forward_case);

}  // namespace jitbag::test
