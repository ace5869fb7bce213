#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace jitbag {

/// How the rows of a bag become one. Rows that padding or a bad id leaves out are not counted;
/// where nothing is counted the result is zeros. With weights, a sum is that of weight * row.
enum class Pooling : std::uint8_t {
  sum,
  mean,             ///< the sum divided by the number of counted rows
  mean_by_weights,  ///< the sum divided by the sum of the counted rows' weights, whatever that is
  mean_by_length,   ///< the sum divided by ForwardSpec::mean_length
  mean_by_sqrt,     ///< the sum divided by the square root of the number of counted rows
  max,              ///< the largest element of each column; a NaN is larger than any number
  none,             ///< no pooling: every row is kept, zeros in place of padding and of bad ids
};

/// Whether it is a sum of the rows, divided or not.
[[nodiscard]] constexpr bool is_sum_or_mean(Pooling pooling) {
  return pooling != Pooling::max && pooling != Pooling::none;
}

/// The poolings that one gather feeds: one, or several, whose results stand side by side in the
/// output, in this order. A value of fixed size, so that a spec stays cheap to copy and compare.
class Poolings {
 public:
  static constexpr std::size_t most = 6;

  constexpr Poolings(Pooling one) : size_(1) { values_[0] = one; }
  /// Throws Error(invalid_argument) for none of them or more than `most`.
  Poolings(std::initializer_list<Pooling> several);
  explicit Poolings(std::span<const Pooling> several);

  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr Pooling operator[](std::size_t index) const { return values_[index]; }
  [[nodiscard]] constexpr const Pooling* begin() const { return values_.data(); }
  [[nodiscard]] constexpr const Pooling* end() const { return values_.data() + size_; }
  [[nodiscard]] constexpr bool has(Pooling pooling) const {
    for (const Pooling one : *this) {
      if (one == pooling) return true;
    }
    return false;
  }
  bool operator==(const Poolings&) const = default;

 private:
  std::array<Pooling, most> values_{};
  std::size_t size_;
};

/// "sum", "mean_by_sqrt".
[[nodiscard]] std::string_view name(Pooling pooling);
[[nodiscard]] Pooling parse_pooling(std::string_view name);

}  // namespace jitbag
