#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "catch.hpp"
#include "kernel_on_cpu.hpp"
#include "runtime/forward_grid.hpp"
#include "support/forward_case.hpp"
#include "support/forward_matrix.hpp"
#include "support/seed.hpp"
#include "support/shard.hpp"

namespace jitbag::test {
namespace {

/// The largest batch that keeps the whole matrix within about two minutes on two cores under the
/// sanitizers; with JITBAG_TEST_FULL=1 any batch is run. A thread that meets others costs far more
/// than one that runs alone.
std::int64_t largest_batch(const MatrixKernel& kernel, const Strategy& strategy) {
  constexpr std::int64_t elements_limit = 2'000'000;
  constexpr std::int64_t meeting_threads_limit = 30'000;
  std::int64_t batch = 1023;
  if (full_tests()) return batch;
  const ForwardSpec& spec = kernel.spec;
  const auto is_too_much = [&] {
    const std::int64_t rows = spec.pooling.has(Pooling::none) ? batch * longest_bag(kernel) : batch;
    const std::int64_t threads = blocks_for(spec, strategy, rows) * strategy.block_threads;
    return batch * longest_bag(kernel) * spec.dim > elements_limit ||
           (threads_meet(spec, strategy) && threads > meeting_threads_limit);
  };
  while (batch > 7 && is_too_much()) batch = batch * 3 / 4;
  return batch;
}

TEST_CASE("every kernel of the matrix computes on the CPU what the oracle says", "[matrix]") {
  const Shard shard;
  const auto kernels = forward_matrix(seed());
  std::cout << fmt::format("JITBAG_TEST_SEED={}: {} kernels, shard {}/{}\n", seed(), kernels.size(),
                           shard.index, shard.count);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!shard.has(i)) continue;
    const MatrixKernel& kernel = kernels[i];
    const Target target = kernel.seed % 4 == 0 ? Target{7, 5} : Target{9, 0};
    const Strategy strategy = strategy_for(kernel, target);
    INFO("kernel " << i << ": " << describe(kernel, target));
    KernelOnCpu on_cpu(kernel.spec, strategy, target, kernel.seed);
    for (const ForwardCaseOptions& options : launches_of(kernel, largest_batch(kernel, strategy))) {
      const ForwardCase forward_case = make_forward_case(options);
      INFO(forward_case.description);
      CHECK(on_cpu.check(forward_case) == "");
    }
  }
}

}  // namespace
}  // namespace jitbag::test
