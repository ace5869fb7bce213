#include "bad_ids.hpp"

#include <algorithm>
#include <cstring>
#include <variant>

namespace jitbag::test {
namespace {

std::int64_t read(const PlacedArray& array, IntegerType type, std::int64_t index) {
  if (type == IntegerType::int64) {
    std::int64_t value = 0;
    std::memcpy(&value, array.data() + index * 8, sizeof value);
    return value;
  }
  std::int32_t value = 0;
  std::memcpy(&value, array.data() + index * 4, sizeof value);
  return value;
}

}  // namespace

BagRange bag_range(const ForwardCase& forward_case, std::int64_t bag) {
  if (const auto* fixed = std::get_if<FixedBags>(&forward_case.spec.bags)) {
    return {bag * fixed->size, (bag + 1) * fixed->size};
  }
  const auto& csr = std::get<CsrBags>(forward_case.spec.bags);
  const auto offset = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(read(forward_case.offsets, csr.offset_type, i), 0,
                                    forward_case.num_ids);
  };
  const bool is_open = csr.end == OffsetsEnd::implied && bag + 1 == forward_case.batch;
  return {offset(bag), is_open ? forward_case.num_ids : offset(bag + 1)};
}

std::optional<BadPosition> lowest_bad_id(const ForwardCase& forward_case) {
  std::optional<BadPosition> lowest;
  for (std::int64_t bag = 0; bag < forward_case.batch; ++bag) {
    const BagRange range = bag_range(forward_case, bag);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      if (lowest && i >= lowest->position) break;
      const std::int64_t id = read(forward_case.ids, forward_case.spec.id_type, i);
      const bool is_inside = id >= 0 && id < forward_case.num_rows;
      if (id != forward_case.spec.padding_id && !is_inside) lowest = BadPosition{i, id};
    }
  }
  return lowest;
}

}  // namespace jitbag::test
