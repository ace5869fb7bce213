#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "block_runner.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag::test {

using CompiledKernels = std::vector<std::shared_ptr<const CompiledKernel>>;

/// In the same order.
[[nodiscard]] CompiledKernels compiled(const std::vector<Specialisation>& specialisations);

/// What enqueue_sort() and what is built on it run on. After a problem nothing runs any more.
struct MachineOnCpu {
  const CompiledKernels& kernels;
  BlockRunner& runner;
  std::string problem;

  void fill(void* address, int byte, std::int64_t bytes) const;

  template <class... Arguments>
  void launch(auto number, std::int64_t blocks, int threads, Arguments... arguments) {
    if (!problem.empty()) return;
    const CompiledKernel& kernel = *kernels[static_cast<std::size_t>(number)];
    auto* const entry = kernel.entry<void(Arguments...)>();
    problem = kernel.run(runner, {.blocks = blocks, .block_threads = threads},
                         [&] { entry(arguments...); });
  }
};

}  // namespace jitbag::test
