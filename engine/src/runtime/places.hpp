#pragma once

#include <cstdint>

#include "runtime/forward_grid.hpp"

namespace jitbag {

/// Gives out the places of a workspace one after the other: offsets in bytes, each a multiple of
/// 256.
class Places {
 public:
  std::int64_t take(std::int64_t bytes) {
    constexpr std::int64_t alignment = 256;
    const std::int64_t place = end_;
    end_ = divided_up(end_ + bytes, alignment) * alignment;
    return place;
  }
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  std::int64_t end_ = 0;
};

}  // namespace jitbag
