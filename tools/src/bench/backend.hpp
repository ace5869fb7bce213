#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/result.hpp"
#include "bench/training.hpp"
#include "bench/workload.hpp"
#include "jitbag/engine.hpp"
#include "progress.hpp"

namespace jitbag::tools::bench {

/// One shape to be run by one backend after the other.
struct Job {
  const Options& options;
  const Workload& workload;
  std::span<const double> expected;  ///< the oracle's output for the first set of ids
  Tolerance limits;
  Progress& progress;                  ///< advances by one for each repeat
  const Training* training = nullptr;  ///< what is measured beside forward, if it is
};

/// Each checks its output against the expected one before it times anything. They throw Error for
/// what the machine refuses.
[[nodiscard]] Result run_cpu(const Job& job);
[[nodiscard]] Result run_reference(const Job& job);
/// In the calling thread's device context.
[[nodiscard]] Result run_jit(const Job& job, Engine& engine);

/// The same for a step of training and its parts, of a job that has one.
[[nodiscard]] Result run_cpu_training(const Job& job);
[[nodiscard]] Result run_jit_training(const Job& job, Engine& engine);

/// Sets the accuracy, and the status when the output is wrong. True when it is right.
bool check_output(Result& result, const Job& job, const void* output);

/// The same for an accuracy that is there, of so many elements.
bool note_accuracy(Result& result, std::size_t elements, const Tolerance& limits);

/// Seconds of each repeat of `steps` steps, after the warm-up; `finish` waits for what the steps
/// enqueued, once for each repeat.
[[nodiscard]] std::vector<double> time_repeats(const Options& options, std::size_t sets,
                                               Progress& progress,
                                               const std::function<void(std::size_t set)>& step,
                                               const std::function<void()>& finish);

}  // namespace jitbag::tools::bench
