#pragma once

#include <cstdint>
#include <iterator>
#include <random>

namespace jitbag::test {

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t number() { return engine_(); }
  /// 0 to limit - 1.
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(limit));
  }
  /// 0 to 1, without 1.
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  bool chance(double probability) { return unit() < probability; }

  template <class Values>
  const auto& one_of(const Values& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(values))))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace jitbag::test
