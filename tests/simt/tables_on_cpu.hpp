#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "block_runner.hpp"
#include "check_report.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/specialisation.hpp"
#include "support/tables_case.hpp"

namespace jitbag::test {

/// The kernel of a set of tables as the C++ compiler made it.
class TablesOnCpu {
 public:
  TablesOnCpu(const TablesSpec& spec, const std::vector<Strategy>& strategies, const Target& target,
              std::optional<std::int64_t> expected_batch, std::uint64_t seed);

  /// Runs a launch on host memory, in two parts where there are slots for two. Returns nothing, or
  /// one sentence about threads that did not meet.
  [[nodiscard]] std::string launch(const std::vector<ForwardArguments>& tables,
                                   const JoinedArguments& joined, BadInputReport& report);

 private:
  TablesSpec spec_;
  std::vector<Strategy> strategies_;
  std::optional<std::int64_t> expected_batch_;
  Specialisation source_;
  std::shared_ptr<const CompiledKernel> kernel_;
  BlockRunner runner_;
};

}  // namespace jitbag::test
