#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "block_runner.hpp"
#include "jitbag/backward.hpp"
#include "machine_on_cpu.hpp"

struct BadInputReport;

namespace jitbag::test {

/// The kernels of a gradient as the C++ compiler made them.
class BackwardOnCpu {
 public:
  BackwardOnCpu(const BackwardSpec& spec, const BackwardStrategy& strategy, const Target& target,
                std::uint64_t seed);

  [[nodiscard]] BackwardMethod method() const { return strategy_.method; }

  /// Launches on host memory, in BackwardKernel's order, with a workspace of their own. Returns
  /// nothing, or one sentence about threads that did not meet, or about what was written outside of
  /// the workspace.
  [[nodiscard]] std::string launch(const BackwardArguments& arguments, BadInputReport& report);

 private:
  [[nodiscard]] std::string launch_weight_gradient(const BackwardArguments& arguments,
                                                   BadInputReport& report);
  [[nodiscard]] std::string launch_scatter(const BackwardArguments& arguments,
                                           BadInputReport& report);
  [[nodiscard]] std::string launch_sorted(BackwardArguments arguments, BadInputReport& report);

  BackwardSpec spec_;
  ForwardSpec table_;
  BackwardStrategy strategy_;
  std::shared_ptr<CompiledKernel> of_weights_;  ///< null where their gradient is not asked for
  CompiledKernels of_table_;
  BlockRunner runner_;
};

}  // namespace jitbag::test
