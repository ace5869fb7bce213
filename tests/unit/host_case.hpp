#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t roll() { return engine_(); }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(limit));
  }
  bool chance(std::int64_t one_in) { return below(one_in) == 0; }

  template <class Value>
  Value pick(std::initializer_list<Value> values) {
    return values.begin()[engine_() % values.size()];
  }

 private:
  std::mt19937_64 engine_;
};

/// Any spec of that many columns.
[[nodiscard]] ForwardSpec random_spec(std::int64_t dim, Dice& dice);

/// Half a unit in the last place of a type, relative to the number, and its smallest number.
struct Precision {
  double relative, smallest, overflow;
};

[[nodiscard]] Precision precision(DataType type);

/// A spec with small random inputs on which the backend and the oracle can be compared. Scales are
/// powers of two and biases short, so that float32 says every element exactly. Weights that must
/// not be read, gaps and surroundings are NaN.
struct HostCase {
  ForwardSpec spec;  ///< validated
  std::int64_t batch = 0;
  std::int64_t num_rows = 0;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> offsets;  ///< CSR only
  std::array<std::int64_t, 2> counts{};

  std::size_t table_begin = 0;  ///< bytes from `table`'s begin
  std::vector<std::byte> table, scales, weights, stored_ids, stored_offsets;

  [[nodiscard]] ForwardArguments arguments() const;
};

[[nodiscard]] HostCase make_host_case(const ForwardSpec& spec, Dice& dice);

/// What BadIds::report must throw for the case, or "nothing": a second way to find it.
[[nodiscard]] std::string expected_report(const HostCase& given);

/// A number as an element of a float type.
void store_number(double value, DataType type, std::byte* to);
[[nodiscard]] double load_number(const std::byte* from, DataType type);

}  // namespace jitbag::test
