#include "sorted_on_cpu.hpp"

#include <cstring>
#include <map>

#include "jitbag/specialisation.hpp"
#include "runtime/enqueue_sorted.hpp"
#include "spec/gradient_table.hpp"
#include "support/placed_array.hpp"

namespace jitbag::test {
namespace {

/// Kernels that many specs share are compiled once.
std::shared_ptr<CompiledKernel> compiled(const Specialisation& one) {
  static std::map<std::string, std::shared_ptr<CompiledKernel>> known;
  std::shared_ptr<CompiledKernel>& kernel = known[one.source];
  if (kernel == nullptr) kernel = std::make_shared<CompiledKernel>(one.source, one.entry);
  return kernel;
}

/// What enqueue_sorted() runs on. After a problem nothing runs any more.
struct Cpu {
  const std::vector<std::shared_ptr<CompiledKernel>>& kernels;
  BlockRunner& runner;
  std::string problem;

  void fill(void* address, int byte, std::int64_t bytes) const {
    std::memset(address, byte, static_cast<std::size_t>(bytes));
  }

  template <class... Arguments>
  void launch(SortedKernel number, std::int64_t blocks, int threads, Arguments... arguments) {
    if (!problem.empty()) return;
    const CompiledKernel& kernel = *kernels[static_cast<std::size_t>(number)];
    auto* const entry = kernel.entry<void(Arguments...)>();
    problem = kernel.run(runner, {.blocks = blocks, .block_threads = threads},
                         [&] { entry(arguments...); });
  }
};

}  // namespace

SortedOnCpu::SortedOnCpu(const BackwardSpec& spec, const BackwardStrategy& strategy,
                         const Target& target, std::uint64_t seed)
    : spec_(validated(spec)), table_(gradient_table(spec_)), shape_(strategy.shape), runner_(seed) {
  for (const Specialisation& one : specialise(spec, strategy, target)) {
    kernels_.push_back(compiled(one));
  }
}

std::string SortedOnCpu::launch(BackwardArguments arguments, BadInputReport& report) {
  const SortLayout layout(spec_, table_, arguments);
  PlacedArray workspace(static_cast<std::size_t>(layout.bytes), 0);
  arguments.workspace = workspace.data();
  arguments.workspace_bytes = layout.bytes;
  Cpu cpu{kernels_, runner_, {}};
  enqueue_sorted(cpu, spec_, table_, shape_, layout, arguments, &report);
  if (cpu.problem.empty() && !workspace.surroundings_are_poison()) {
    return "Something was written outside of the workspace.";
  }
  return cpu.problem;
}

}  // namespace jitbag::test
