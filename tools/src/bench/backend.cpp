#include "bench/backend.hpp"

#include <spdlog/fmt/fmt.h>

#include <chrono>

namespace jitbag::tools::bench {

bool check_output(Result& result, const Job& job, const void* output) {
  const ForwardSpec& spec = job.workload.spec;
  const Tolerance limits = tolerance(job.options);
  result.accuracy = compare(output, spec.output_type, job.expected, spec.dim, limits);
  if (result.accuracy->wrong == 0) return true;
  result.status = Status::error;
  result.error =
      fmt::format("{} of {} elements are wrong: {} (atol {}, rtol {})", result.accuracy->wrong,
                  job.expected.size(), result.accuracy->first_wrong, limits.atol, limits.rtol);
  return false;
}

std::vector<double> time_repeats(const Job& job, const std::function<void(std::size_t set)>& step,
                                 const std::function<void()>& finish) {
  const std::size_t sets = job.workload.sets();
  std::size_t set = 0;
  const auto run_steps = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      step(set);
      if (++set == sets) set = 0;
    }
    finish();
  };
  run_steps(job.options.warmup_steps);
  std::vector<double> seconds;
  for (std::int64_t repeat = 0; repeat < job.options.repeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    run_steps(job.options.steps);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    seconds.push_back(elapsed.count());
    job.progress.advance();
  }
  return seconds;
}

}  // namespace jitbag::tools::bench
