#include <algorithm>

#include "bench/backend.hpp"
#include "bench/device_time.hpp"
#include "jitbag/device.hpp"

namespace jitbag::tools::bench {
namespace {

/// The workload's data in device memory.
class DeviceWorkload {
 public:
  explicit DeviceWorkload(const Workload& workload)
      : workload_(workload),
        table_(uploaded(workload.table->rows)),
        scales_(uploaded(workload.table->scales)),
        offsets_(uploaded(workload.offsets)) {
    for (const HostBuffer& ids : workload.id_sets) {
      ids_.push_back(uploaded(ids));
      outputs_.push_back(allocated(static_cast<std::size_t>(workload.output_bytes())));
    }
    for (const HostBuffer& weights : workload.weight_sets) weights_.push_back(uploaded(weights));
  }

  [[nodiscard]] ForwardArguments arguments(std::size_t set) const {
    ForwardArguments arguments = workload_.arguments(set, outputs_[set].data());
    arguments.table = table_.data();
    arguments.scales = scales_.data();
    if (!weights_.empty()) arguments.weights = weights_[set].data();
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
  device::Buffer scales_;
  device::Buffer offsets_;
  std::vector<device::Buffer> ids_;
  std::vector<device::Buffer> weights_;
  std::vector<device::Buffer> outputs_;
};

}  // namespace

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
