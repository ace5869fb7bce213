#pragma once

#include <array>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "support/tables_case.hpp"

namespace jitbag::test {

/// The arrays of a set of tables in device memory, and outputs with poison in them and all round.
class DeviceTables {
 public:
  explicit DeviceTables(const TablesCase& tables_case);

  [[nodiscard]] std::vector<ForwardArguments> arguments() const;
  [[nodiscard]] JoinedArguments joined() const;

  /// Other inputs in the same buffers, which must be of the same sizes, and outputs of poison.
  void replace(const TablesCase& tables_case);

  /// As they are now.
  [[nodiscard]] TablesOutputs outputs() const;

 private:
  using Inputs = std::array<device::Buffer, input_arrays>;

  const TablesCase* case_;
  std::vector<Inputs> inputs_;
  std::vector<device::Buffer> joined_;
  TablesOutputs poison_;  ///< where outputs begin, and what is in them before a launch
  std::vector<device::Buffer> outputs_;
};

}  // namespace jitbag::test
