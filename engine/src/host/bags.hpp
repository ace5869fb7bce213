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

/// Where each bag's ids are, whatever the layout, and how many bags and ids there are.
class Bags {
 public:
  Bags(const ForwardSpec& spec, const ForwardArguments& arguments)
      : layout_(spec.bags),
        trusted_(spec.bad_ids == BadIds::trust),
        batch_(arguments.batch),
        num_ids_(arguments.num_ids),
        offsets_(arguments.offsets, offset_type(spec.bags)) {
    if (spec.counts == Counts::on_device) {
      batch_ = std::clamp(arguments.counts[0], std::int64_t{0}, batch_);
      num_ids_ = std::clamp(arguments.counts[1], std::int64_t{0}, num_ids_);
    }
    if (const auto* fixed = std::get_if<FixedBags>(&layout_)) num_ids_ = batch_ * fixed->size;
  }

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] std::int64_t num_ids() const { return num_ids_; }

  /// Where the bag is said to be.
  [[nodiscard]] BagRange said(std::int64_t bag) const { return {bound(bag), bound(bag + 1)}; }

  /// Where its ids are read: bounds outside the ids are moved to their ends, unless the spec trusts
  /// them. A bag that ends before it begins is empty.
  BagRange operator[](std::int64_t bag) const { return kept(said(bag)); }

  [[nodiscard]] bool is_bad(const BagRange& said) const {
    return said.begin < 0 || said.end > num_ids_ || said.end < said.begin;
  }

  /// The ids from the begin of the first bag to the end of the last one.
  [[nodiscard]] BagRange all() const {
    return batch_ == 0 ? BagRange{} : kept({bound(0), bound(batch_)});
  }

  /// Whether an id is in two bags, since offsets decrease.
  [[nodiscard]] bool overlap() const {
    std::int64_t end = 0;
    for (std::int64_t bag = 0; bag < batch_; ++bag) {
      const BagRange range = (*this)[bag];
      if (range.begin < range.end && range.begin < end) return true;
      end = std::max(end, range.end);
    }
    return false;
  }

  /// The bag that holds a position within all(): the last one that begins at or before it. Where
  /// offsets decrease, the one that the kernels' bisection finds.
  [[nodiscard]] std::int64_t holder(std::int64_t position) const {
    std::int64_t low = 0;
    for (std::int64_t high = batch_; high - low > 1;) {
      const std::int64_t middle = (low + high) / 2;
      ((*this)[middle].begin <= position ? low : high) = middle;
    }
    return low;
  }

 private:
  static IntegerType offset_type(const BagLayout& layout) {
    const auto* csr = std::get_if<CsrBags>(&layout);
    return csr != nullptr ? csr->offset_type : IntegerType::int64;
  }

  [[nodiscard]] std::int64_t bound(std::int64_t index) const {
    if (const auto* fixed = std::get_if<FixedBags>(&layout_)) return index * fixed->size;
    if (index == batch_ && std::get<CsrBags>(layout_).end == OffsetsEnd::implied) return num_ids_;
    return offsets_[index];
  }

  [[nodiscard]] BagRange kept(const BagRange& said) const {
    if (trusted_) return said;
    return {std::clamp(said.begin, std::int64_t{0}, num_ids_),
            std::clamp(said.end, std::int64_t{0}, num_ids_)};
  }

  BagLayout layout_;
  bool trusted_;
  std::int64_t batch_;
  std::int64_t num_ids_;
  Integers offsets_;
};

}  // namespace jitbag::host
