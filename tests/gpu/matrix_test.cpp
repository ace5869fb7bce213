#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "jitbag/error.hpp"
#include "spec/arguments.hpp"
#include "support/bags.hpp"
#include "support/caught.hpp"
#include "support/forward_matrix.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

/// Calls `action` with 0 to count - 1 on up to 16 threads.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& action) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> running;
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  for (unsigned i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (std::size_t number = next++; number < count; number = next++) action(number);
    });
  }
  for (std::thread& thread : running) thread.join();
}

/// Runs the launches of one kernel, each on a stream of its own.
class KernelRun {
 public:
  KernelRun(Engine& engine, const MatrixKernel& kernel, const Target& target)
      : engine_(engine),
        kernel_(kernel),
        forward_(engine.forward(kernel.spec, {.strategy = strategy_for(kernel, target)})) {}

  [[nodiscard]] std::string check() const {
    for (const ForwardCaseOptions& options : launches_of(kernel_)) {
      const std::string problem = kernel_.spec.bad_ids == BadIds::report
                                      ? check_reporting(options)
                                      : launch_and_check(forward_, options, stream_);
      if (!problem.empty()) return problem;
    }
    return {};
  }

 private:
  /// One at a time: a bad id reaches the next launch, whichever it is.
  std::string check_reporting(const ForwardCaseOptions& options) const {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const std::string problem = launch_and_check(forward_, options, stream_);
    const std::string reported = caught([&] { engine_.check(); });
    if (!problem.empty()) return problem;
    const ForwardCase forward_case = make_forward_case(options);
    const auto bad = Bags(forward_case.spec, forward_case.host_arguments()).first_bad_input();
    const std::string expected = caught([&] {
      if (bad) throw bad_input_error(*bad);
    });
    return reported == expected ? "" : "Expected " + expected + ", not " + reported;
  }

  Engine& engine_;
  const MatrixKernel& kernel_;
  const ForwardKernel& forward_;
  device::OwnedStream stream_;
};

TEST_CASE("every kernel of the matrix computes on the GPU what the oracle says") {
  if (!gpu_is_here()) return;
  std::cout << fmt::format("JITBAG_TEST_SEED={}\n", seed());
  const Target target = gpu_target();
  Engine engine({.cache = suite_cache()});
  const auto kernels = forward_matrix(seed());
  std::vector<std::string> problems(kernels.size());
  in_parallel(kernels.size(), [&](std::size_t i) {
    const std::string thrown = caught([&] {
      const device::Context context(0);
      static_cast<void>(
          engine.artifact(specialise(kernels[i].spec, strategy_for(kernels[i], target), target)));
      problems[i] = KernelRun(engine, kernels[i], target).check();
    });
    if (thrown != "nothing") problems[i] = thrown;
  });
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    INFO("kernel " << i << ": " << describe(kernels[i], target));
    CHECK(problems[i] == "");
  }
}

}  // namespace
}  // namespace jitbag::test
