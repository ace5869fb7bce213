#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "block_runner.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/backward.hpp"

struct BadInputReport;

namespace jitbag::test {

/// The kernels of backward's sort method as the C++ compiler made them.
class SortedOnCpu {
 public:
  static constexpr bool is_sorted = true;

  SortedOnCpu(const BackwardSpec& spec, const BackwardStrategy& strategy, const Target& target,
              std::uint64_t seed);

  /// Launches on host memory, with a workspace of their own. Returns nothing, or one sentence
  /// about threads that did not meet, or about what was written outside of the workspace.
  [[nodiscard]] std::string launch(BackwardArguments arguments, BadInputReport& report);

 private:
  BackwardSpec spec_;
  ForwardSpec table_;
  Strategy shape_;
  std::vector<std::shared_ptr<CompiledKernel>> kernels_;
  BlockRunner runner_;
};

}  // namespace jitbag::test
