#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag::host {

/// An array of int32 or int64, read as int64.
class Integers {
 public:
  Integers(const void* data, IntegerType type) : data_(data), type_(type) {}

  std::int64_t operator[](std::int64_t index) const {
    return type_ == IntegerType::int64 ? static_cast<const std::int64_t*>(data_)[index]
                                       : static_cast<const std::int32_t*>(data_)[index];
  }

 private:
  const void* data_;
  IntegerType type_;
};

/// Positions of a bag in the ids.
struct BagRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Where each bag's ids are, whatever the layout. Offsets outside the ids are moved to their ends,
/// unless the spec trusts them; a bag that ends before it begins is empty.
class Bags {
 public:
  Bags(const ForwardSpec& spec, const ForwardArguments& arguments)
      : layout_(spec.bags),
        trusted_(spec.bad_ids == BadIds::trust),
        num_ids_(arguments.num_ids),
        batch_(arguments.batch),
        offsets_(arguments.offsets, offset_type(spec.bags)) {}

  BagRange operator[](std::int64_t bag) const {
    if (const auto* fixed = std::get_if<FixedBags>(&layout_)) {
      return {bag * fixed->size, (bag + 1) * fixed->size};
    }
    return {bound(bag), bound(bag + 1)};
  }

 private:
  static IntegerType offset_type(const BagLayout& layout) {
    const auto* csr = std::get_if<CsrBags>(&layout);
    return csr != nullptr ? csr->offset_type : IntegerType::int64;
  }

  std::int64_t bound(std::int64_t index) const {
    if (index == batch_ && std::get<CsrBags>(layout_).end == OffsetsEnd::implied) return num_ids_;
    const std::int64_t offset = offsets_[index];
    return trusted_ ? offset : std::clamp(offset, std::int64_t{0}, num_ids_);
  }

  BagLayout layout_;
  bool trusted_;
  std::int64_t num_ids_;
  std::int64_t batch_;
  Integers offsets_;
};

}  // namespace jitbag::host
