#include "placed_array.hpp"

#include <algorithm>
#include <limits>

#include "elements.hpp"

namespace jitbag::test {
namespace {

constexpr std::size_t guard_bytes = 256;

}  // namespace

void poison(std::span<std::byte> bytes) {
  std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
}

bool is_poison(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{0xff}; });
}

PlacedArray::PlacedArray(std::size_t array_bytes, std::size_t misalignment, bool poison_after)
    : buffer(guard_bytes + misalignment + array_bytes + (poison_after ? guard_bytes : 0)),
      begin(guard_bytes + misalignment),
      bytes(array_bytes) {
  poison(buffer);
}

std::byte* PlacedArray::data() {
  return buffer.empty() ? nullptr : buffer.data() + begin;
}

const std::byte* PlacedArray::data() const {
  return buffer.empty() ? nullptr : buffer.data() + begin;
}

bool PlacedArray::surroundings_are_poison() const {
  const std::span<const std::byte> all(buffer);
  return is_poison(all.first(begin)) && is_poison(all.subspan(begin + bytes));
}

PlacedArray place_integers(const std::vector<std::int64_t>& values, IntegerType type,
                           std::int64_t misaligned_elements, bool poison_after) {
  const auto size = static_cast<std::size_t>(size_of(type));
  PlacedArray placed(values.size() * size, static_cast<std::size_t>(misaligned_elements) * size,
                     poison_after);
  for (std::size_t at = 0; at + size <= placed.buffer.size(); at += size) {
    store_integer(placed.buffer.data() + at, type, far_outside(type));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_integer(placed.data() + i * size, type, values[i]);
  }
  return placed;
}

PlacedArray place_elements(const std::vector<double>& values, DataType type,
                           std::int64_t misaligned_elements, bool poison_after) {
  const auto size = static_cast<std::size_t>(size_of(type));
  PlacedArray placed(values.size() * size, static_cast<std::size_t>(misaligned_elements) * size,
                     poison_after);
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_element(placed.data() + i * size, type, values[i]);
  }
  return placed;
}

std::int64_t far_outside(IntegerType type) {
  return type == IntegerType::int64 ? std::numeric_limits<std::int64_t>::max() / 2
                                    : std::numeric_limits<std::int32_t>::max();
}

}  // namespace jitbag::test
