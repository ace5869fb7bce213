#include <spdlog/fmt/fmt.h>

#include "bench/backend.hpp"
#include "jitbag/host.hpp"
#include "machine.hpp"

namespace jitbag::tools::bench {

Result run_cpu(const Job& job) {
  const Workload& workload = job.workload;
  const int threads = processor_threads();
  std::vector<HostBuffer> outputs;
  for (std::size_t set = 0; set < workload.sets(); ++set)
    outputs.emplace_back(workload.output_bytes());
  const auto step = [&](std::size_t set) {
    host::forward(workload.spec, workload.arguments(set, outputs[set].data()), threads);
  };

  Result result;
  result.backend = "cpu";
  result.resolved_backend = fmt::format("cpu:{} threads", threads);
  step(0);
  if (!check_output(result, job, outputs[0].data())) return result;
  result.elapsed_sec = time_repeats(job.options, workload.sets(), job.progress, step, [] {});
  result.bytes_moved = bytes_moved(workload);
  return result;
}

Result run_reference(const Job& job) {
  const Workload& workload = job.workload;
  std::vector<double> output(job.expected.size());
  const auto step = [&](std::size_t set) {
    host::oracle(workload.spec, workload.arguments(set, output.data()), output.data());
  };

  Result result;
  result.backend = "reference";
  result.resolved_backend = "reference:float64";
  // It is the definition: there is nothing to check it against.
  result.accuracy = Accuracy{};
  result.elapsed_sec = time_repeats(job.options, workload.sets(), job.progress, step, [] {});
  result.bytes_moved = bytes_moved(workload);
  return result;
}

}  // namespace jitbag::tools::bench
