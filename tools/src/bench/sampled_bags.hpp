#pragma once

#include <functional>
#include <vector>

#include "bench/accuracy.hpp"
#include "bench/table_inputs.hpp"

namespace jitbag::tools::bench {

/// Bags of one table with all that the oracle needs to compute them: of the table only the rows
/// that they read.
class SampledBags {
 public:
  /// At most `count` bags of the batch, evenly spread, of the first set of ids.
  SampledBags(const TableInputs& inputs, std::size_t table, std::int64_t count);

  [[nodiscard]] const std::vector<std::int64_t>& bags() const { return bags_; }
  [[nodiscard]] std::int64_t longest() const { return longest_; }
  /// The oracle's output of each bag, one after the other.
  [[nodiscard]] std::vector<double> expected() const;

 private:
  void add_bag(const TableInputs& inputs, std::size_t table, std::int64_t bag);

  ForwardSpec spec_;
  std::vector<std::int64_t> bags_;
  std::vector<std::int64_t> offsets_ = {0};
  std::vector<std::int64_t> rows_;  ///< the rows that are read, one for each id
  std::vector<std::int64_t> ids_;   ///< their places in the smaller table; -1: not to be counted
  std::vector<std::uint64_t> weights_;
  std::vector<RowPart> parts_;
  std::int64_t longest_ = 0;
};

}  // namespace jitbag::tools::bench
