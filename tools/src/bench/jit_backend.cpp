#include <algorithm>
#include <chrono>

#include "bench/backend.hpp"
#include "jitbag/device.hpp"
#include "statistics.hpp"
#include "strategy_text.hpp"

namespace jitbag::tools::bench {
namespace {

/// The workload's data in device memory.
class DeviceWorkload {
 public:
  explicit DeviceWorkload(const Workload& workload)
      : workload_(workload),
        table_(uploaded(*workload.table)),
        offsets_(uploaded(workload.offsets)) {
    for (const HostBuffer& ids : workload.id_sets) {
      ids_.push_back(uploaded(ids));
      outputs_.push_back(allocated(static_cast<std::size_t>(workload.output_bytes())));
    }
  }

  [[nodiscard]] ForwardArguments arguments(std::size_t set) const {
    ForwardArguments arguments = workload_.arguments(set, outputs_[set].data());
    arguments.table = table_.data();
    arguments.ids = ids_[set].data();
    arguments.offsets = offsets_.data();
    return arguments;
  }

  [[nodiscard]] HostBuffer output(std::size_t set) const {
    HostBuffer host(workload_.output_bytes());
    device::copy_to_host(host.data(), outputs_[set].data(), host.size());
    return host;
  }

  /// Fills the output with NaN, so that an element that is not written is seen.
  void poison(std::size_t set, Stream stream) const {
    constexpr std::uint8_t all_ones = 0xFF;
    device::fill_bytes(outputs_[set].data(), all_ones,
                       static_cast<std::size_t>(workload_.output_bytes()), stream);
  }

 private:
  // A buffer of no bytes has no address, and a kernel wants one.
  static device::Buffer allocated(std::size_t bytes) {
    return device::Buffer(std::max<std::size_t>(bytes, 16));
  }
  static device::Buffer uploaded(const HostBuffer& host) {
    device::Buffer buffer = allocated(host.size());
    if (host.size() > 0) device::copy_to_device(buffer.data(), host.data(), host.size());
    return buffer;
  }

  const Workload& workload_;
  device::Buffer table_;
  device::Buffer offsets_;
  std::vector<device::Buffer> ids_;
  std::vector<device::Buffer> outputs_;
};

KernelFacts facts(const ForwardKernel& kernel) {
  const Artifact& artifact = kernel.artifact();
  return {.strategy = to_text(kernel.strategy()),
          .key = artifact.key,
          .compiler = artifact.compiler,
          .registers = artifact.registers,
          .shared_bytes = artifact.shared_bytes,
          .spill_bytes = artifact.spill_bytes,
          .cubin_bytes = artifact.cubin.size(),
          .origin = artifact.origin,
          .place = artifact.place,
          .times = artifact.times};
}

/// A graph of one launch for each set, replayed: no launch waits for the host, and each finds its
/// ids and its output where the one before it has not been.
DeviceTime measure_device(const std::function<void(std::size_t)>& launch, std::size_t sets,
                          const device::OwnedStream& stream) {
  constexpr int measurements = 20;
  constexpr int replays = 10;
  constexpr int warmups = 3;
  const device::Graph graph(stream.get(), [&] {
    for (std::size_t set = 0; set < sets; ++set) launch(set);
  });
  for (int i = 0; i < warmups; ++i) graph.launch(stream.get());
  device::Event start;
  device::Event stop;
  std::vector<double> times_us;
  for (int i = 0; i < measurements; ++i) {
    start.record(stream.get());
    for (int replay = 0; replay < replays; ++replay) graph.launch(stream.get());
    stop.record(stream.get());
    times_us.push_back(device::Event::elapsed_ms(start, stop) * 1000 /
                       (replays * static_cast<double>(sets)));
  }
  return {median(times_us), percentile(times_us, 95)};
}

/// What a launch costs its caller: batches short enough that the driver's queue never fills.
double measure_host_us(const std::function<void(std::size_t)>& launch, std::size_t sets,
                       const device::OwnedStream& stream) {
  constexpr int batches = 21;
  constexpr std::size_t launches = 50;
  std::vector<double> times_us;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < launches; ++i) launch(i % sets);
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - start;
    stream.synchronize();
    times_us.push_back(elapsed.count() / launches);
  }
  return median(times_us);
}

}  // namespace

Result run_jit(const Job& job, Engine& engine) {
  const Workload& workload = job.workload;
  ForwardChoice choice;
  choice.expected_batch = workload.batch;
  if (!job.options.strategy.empty()) choice.strategy = parse_strategy(job.options.strategy);
  const ForwardKernel& kernel = engine.forward(workload.spec, choice);
  const DeviceWorkload data(workload);
  const device::OwnedStream stream;
  const auto launch = [&](std::size_t set) { kernel.launch(data.arguments(set), stream.get()); };

  Result result;
  result.backend = "jit";
  result.kernel = facts(kernel);
  result.resolved_backend = "jit:" + to_text(device::devices().front().target);
  data.poison(0, stream.get());
  launch(0);
  stream.synchronize();
  engine.check();
  if (!check_output(result, job, data.output(0).data())) return result;
  result.elapsed_sec = time_repeats(job, launch, [&] { stream.synchronize(); });
  result.device_time = measure_device(launch, workload.sets(), stream);
  result.host_time_us = measure_host_us(launch, workload.sets(), stream);
  result.bytes_moved = bytes_moved(workload);
  return result;
}

}  // namespace jitbag::tools::bench
