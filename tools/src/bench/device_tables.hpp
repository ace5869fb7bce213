#pragma once

#include <vector>

#include "bench/table_inputs.hpp"
#include "jitbag/device.hpp"

namespace jitbag::tools::bench {

/// The tables, rotating sets of ids and outputs in the memory of the current device.
class DeviceTables {
 public:
  DeviceTables(const TableInputs& inputs, std::size_t sets, Engine& engine, Stream stream);

  [[nodiscard]] std::size_t sets() const { return sets_.size(); }
  /// What each table has of its own.
  [[nodiscard]] std::vector<ForwardArguments> tables() const;
  [[nodiscard]] JoinedArguments joined(std::size_t set) const;

  /// Fills an output with NaN, so that an element that is not written is seen.
  void poison(std::size_t set, Stream stream) const;

 private:
  struct Table {
    device::Buffer rows;
    device::Buffer scales;
  };
  struct Set {
    device::Buffer ids;
    device::Buffer weights;
    device::Buffer output;
  };

  void add_table(std::size_t number, const NumberWriter& writer);
  void add_set(std::size_t number, const NumberWriter& writer);

  const TableInputs& inputs_;
  std::vector<Table> tables_;
  std::vector<Set> sets_;
  device::Buffer offsets_;
};

}  // namespace jitbag::tools::bench
