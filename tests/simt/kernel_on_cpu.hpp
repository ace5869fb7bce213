#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "block_runner.hpp"
#include "check_report.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/specialisation.hpp"
#include "support/forward_case.hpp"

namespace jitbag::test {

/// A forward kernel as the C++ compiler made it.
class KernelOnCpu {
 public:
  KernelOnCpu(const ForwardSpec& spec, const Strategy& strategy, const Target& target,
              std::uint64_t seed);

  /// Runs a launch on host memory, in two parts where there are blocks for two, as one too large
  /// for a grid would be. Returns nothing, or one sentence about threads that did not meet.
  [[nodiscard]] std::string launch(const ForwardArguments& arguments, BadInputReport& report);

  /// Launches and checks everything: outputs, the report, and that nothing else was written to.
  /// Returns nothing, or one sentence.
  [[nodiscard]] std::string check(const ForwardCase& forward_case);

 private:
  [[nodiscard]] std::string launch_part(const ForwardArguments& arguments, BadInputReport& report,
                                        std::int64_t first_block, std::int64_t blocks);

  ForwardSpec spec_;
  Strategy strategy_;
  Specialisation source_;
  std::shared_ptr<const CompiledKernel> kernel_;
  BlockRunner runner_;
};

/// Whether the threads of such a kernel meet at shuffles or barriers.
[[nodiscard]] bool threads_meet(const ForwardSpec& spec, const Strategy& strategy);

}  // namespace jitbag::test
