#include "bench/backend.hpp"
#include "bench/device_time.hpp"
#include "bench/device_workload.hpp"
#include "jitbag/device.hpp"

namespace jitbag::tools::bench {

Result run_jit(const Job& job, Engine& engine) {
  const Workload& workload = job.workload;
  const ForwardChoice choice{.strategy = choice_of(job.options, workload.spec.dim).strategy,
                             .expected_batch = workload.batch};
  const ForwardKernel& kernel = engine.forward(workload.spec, choice);
  const DeviceWorkload data(workload);
  const device::OwnedStream stream;
  const auto launch = [&](std::size_t set) { kernel.launch(data.arguments(set), stream.get()); };

  Result result;
  result.backend = "jit";
  result.kernel = facts(kernel.artifact(), to_text(kernel.strategy()));
  result.resolved_backend = "jit:" + to_text(device::devices().front().target);
  data.poison(0, stream.get());
  launch(0);
  stream.synchronize();
  engine.check();
  if (!check_output(result, job, data.output(0).data())) return result;
  result.elapsed_sec = time_repeats(job.options, workload.sets(), job.progress, launch,
                                    [&] { stream.synchronize(); });
  result.device_time = measure_device(launch, workload.sets(), stream);
  result.host_time_us = measure_host_us(launch, workload.sets(), stream);
  result.bytes_moved = bytes_moved(workload);
  return result;
}

}  // namespace jitbag::tools::bench
