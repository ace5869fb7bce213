#include "bench/backend.hpp"

#include <spdlog/fmt/fmt.h>

#include <chrono>

namespace jitbag::tools::bench {

bool check_output(Result& result, const Job& job, const void* output) {
  const Workload& workload = job.workload;
  const DataType type = workload.spec.output_type;
  const std::int64_t width = output_width(workload.spec);
  const auto [first, last] = workload.rows_written();
  const auto written = job.expected.subspan(static_cast<std::size_t>(first * width),
                                            static_cast<std::size_t>((last - first) * width));
  result.accuracy = compare(static_cast<const std::byte*>(output) + first * width * size_of(type),
                            type, written, width, job.limits);
  return note_accuracy(result, written.size(), job.limits);
}

bool note_accuracy(Result& result, std::size_t elements, const Tolerance& limits) {
  if (result.accuracy->wrong == 0) return true;
  result.status = Status::error;
  result.error =
      fmt::format("{} of {} elements are wrong: {} (atol {}, rtol {})", result.accuracy->wrong,
                  elements, result.accuracy->first_wrong, limits.atol, limits.rtol);
  return false;
}

std::vector<double> time_repeats(const Options& options, std::size_t sets, Progress& progress,
                                 const std::function<void(std::size_t set)>& step,
                                 const std::function<void()>& finish) {
  std::size_t set = 0;
  const auto run_steps = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      step(set);
      if (++set == sets) set = 0;
    }
    finish();
  };
  run_steps(options.warmup_steps);
  std::vector<double> seconds;
  for (std::int64_t repeat = 0; repeat < options.repeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    run_steps(options.steps);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    seconds.push_back(elapsed.count());
    progress.advance();
  }
  return seconds;
}

}  // namespace jitbag::tools::bench
