#include "bags.hpp"

#include <algorithm>
#include <variant>

#include "elements.hpp"

namespace jitbag::test {
namespace {

std::int64_t integer_at(const void* array, IntegerType type, std::int64_t index) {
  return load_integer(static_cast<const std::byte*>(array) + index * size_of(type), type);
}

}  // namespace

Bags::Bags(const ForwardSpec& validated_spec, const ForwardArguments& arguments)
    : spec_(validated_spec),
      arguments_(arguments),
      batch_(arguments.batch),
      num_ids_(arguments.num_ids) {
  if (spec_.counts == Counts::on_device) {
    batch_ = std::clamp<std::int64_t>(arguments.counts[0], 0, arguments.batch);
    num_ids_ = std::clamp<std::int64_t>(arguments.counts[1], 0, arguments.num_ids);
  }
  if (const auto* fixed = std::get_if<FixedBags>(&spec_.bags)) num_ids_ = batch_ * fixed->size;
}

/// As it stands.
std::int64_t Bags::offset(std::int64_t index) const {
  const auto& csr = std::get<CsrBags>(spec_.bags);
  if (csr.end == OffsetsEnd::implied && index == batch_) return num_ids_;
  return integer_at(arguments_.offsets, csr.offset_type, index);
}

std::int64_t Bags::bound(std::int64_t index) const {
  return std::clamp<std::int64_t>(offset(index), 0, num_ids_);
}

Positions Bags::bag(std::int64_t number) const {
  if (const auto* fixed = std::get_if<FixedBags>(&spec_.bags)) {
    return {number * fixed->size, (number + 1) * fixed->size};
  }
  const std::int64_t begin = bound(number);
  return {begin, std::max(begin, bound(number + 1))};
}

Positions Bags::all() const {
  if (batch_ == 0) return {0, 0};
  if (std::holds_alternative<FixedBags>(spec_.bags)) return {0, num_ids_};
  const std::int64_t begin = bound(0);
  return {begin, std::max(begin, bound(batch_))};
}

std::int64_t Bags::id(std::int64_t position) const {
  return integer_at(arguments_.ids, spec_.id_type, position);
}

double Bags::weight(std::int64_t position) const {
  if (!spec_.weight_type) return 1;
  const std::int64_t bytes = size_of(*spec_.weight_type);
  return load_element(static_cast<const std::byte*>(arguments_.weights) + position * bytes,
                      *spec_.weight_type);
}

bool Bags::is_padding(std::int64_t position) const {
  return spec_.padding_id && id(position) == *spec_.padding_id;
}

bool Bags::is_counted(std::int64_t position) const {
  const std::int64_t row = id(position);
  return !is_padding(position) && row >= 0 && row < arguments_.num_rows;
}

/// Without pooling no bag has a place that matters.
std::optional<BadInput> Bags::bad_bag(std::int64_t bag) const {
  if (std::holds_alternative<FixedBags>(spec_.bags) || spec_.pooling.has(Pooling::none)) return {};
  const std::int64_t begin = offset(bag);
  const std::int64_t end = offset(bag + 1);
  const bool is_good = begin >= 0 && begin <= end && end <= num_ids_;
  if (is_good) return {};
  return BadInput{
      .kind = BadInput::Kind::bag, .bag = bag, .position = begin, .value = end, .limit = num_ids_};
}

std::optional<BadInput> Bags::bad_id(std::int64_t bag) const {
  const Positions positions = this->bag(bag);
  for (std::int64_t i = positions.begin; i < positions.end; ++i) {
    if (is_padding(i) || is_counted(i)) continue;
    return BadInput{.kind = BadInput::Kind::id,
                    .bag = bag,
                    .position = i - positions.begin,
                    .value = id(i),
                    .limit = arguments_.num_rows};
  }
  return {};
}

std::optional<BadInput> Bags::first_bad_input() const {
  for (std::int64_t bag = 0; bag < batch_; ++bag) {
    if (auto bad = bad_bag(bag)) return bad;
    if (auto bad = bad_id(bag)) return bad;
  }
  return {};
}

}  // namespace jitbag::test
