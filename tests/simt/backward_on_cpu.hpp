#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "block_runner.hpp"
#include "jitbag/backward.hpp"
#include "machine_on_cpu.hpp"
#include "support/backward_case.hpp"

struct BadInputReport;

namespace jitbag::test {

/// The kernels of a gradient as the C++ compiler made them.
class BackwardOnCpu {
 public:
  BackwardOnCpu(const BackwardSpec& spec, const BackwardStrategy& strategy, const Target& target,
                std::uint64_t seed);

  /// Launches on host memory, in BackwardKernel's order, with a workspace of their own. Returns
  /// nothing, or one sentence about threads that did not meet, or about what was written outside of
  /// the workspace.
  [[nodiscard]] std::string launch(const BackwardArguments& arguments, BadInputReport& report);

  /// Launches and checks everything that was written, and was not. Returns nothing, or one
  /// sentence.
  [[nodiscard]] std::string check(const BackwardCase& given);

 private:
  [[nodiscard]] std::string launch_weight_gradient(const BackwardArguments& arguments,
                                                   BadInputReport& report);
  [[nodiscard]] std::string launch_scatter(BackwardArguments arguments, BadInputReport& report);
  [[nodiscard]] std::string launch_sorted(BackwardArguments arguments, BadInputReport& report);

  BackwardSpec spec_;
  ForwardSpec table_;
  BackwardStrategy strategy_;
  std::shared_ptr<const CompiledKernel>
      of_weights_;  ///< null where their gradient is not asked for
  CompiledKernels of_table_;
  BlockRunner runner_;
};

}  // namespace jitbag::test
