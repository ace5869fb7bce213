#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/row_block.hpp"
#include "host/row_loops.hpp"
#include "host/rows.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag::host {

/// What the counted rows of one bag have become so far, for all poolings of a spec; Number is what
/// sums are kept in. A row that is kept without pooling is a bag of its own. One for each thread:
/// no two of them share a cache line.
template <class Number>
class alignas(64) PooledBag {
 public:
  /// Of a validated spec, which must live as long.
  PooledBag(const ForwardSpec& spec, const ForwardArguments& arguments);

  /// Begins a bag.
  void clear();

  void add(const RowBlock<Number>& block);

  /// Writes the poolings side by side to the bag's output.
  void write(std::byte* output) const;

  /// The ids that won, to element `first` and the following of the winners.
  void write_winners(void* winners, std::int64_t first) const;

 private:
  void add_row(const Number* values, Number weight);
  void raise_largest(const Number* values, std::int64_t row, bool is_first);

  const ForwardSpec* spec_;
  const std::byte* table_;
  std::int64_t row_bytes_;     ///< from one row to the next
  std::int64_t output_bytes_;  ///< of one pooling
  TableRows rows_;
  RowLoops loops_;
  bool has_sums_ = false;
  bool has_largest_ = false;
  std::int64_t count_ = 0;
  Number weight_sum_ = 0;
  std::vector<Number> sums_;
  std::vector<Number> largest_;
  std::vector<std::int64_t> winners_;
  std::vector<Number> values_;  ///< of the row at hand
};

}  // namespace jitbag::host
