#include "bench/device_workload.hpp"

#include <algorithm>

namespace jitbag::tools::bench {

device::Buffer device_buffer(std::int64_t bytes) {
  return device::Buffer(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16)));
}

device::Buffer uploaded(const HostBuffer& host) {
  device::Buffer buffer = device_buffer(static_cast<std::int64_t>(host.size()));
  if (host.size() > 0) device::copy_to_device(buffer.data(), host.data(), host.size());
  return buffer;
}

HostBuffer downloaded(const device::Buffer& buffer, std::int64_t bytes) {
  HostBuffer host(bytes);
  if (bytes > 0) device::copy_to_host(host.data(), buffer.data(), host.size());
  return host;
}

DeviceWorkload::DeviceWorkload(const Workload& workload)
    : workload_(workload),
      table_(uploaded(workload.table->rows)),
      scales_(uploaded(workload.table->scales)),
      offsets_(uploaded(workload.offsets)) {
  for (const HostBuffer& ids : workload.id_sets) {
    ids_.push_back(uploaded(ids));
    outputs_.push_back(device_buffer(workload.output_bytes()));
  }
  for (const HostBuffer& weights : workload.weight_sets) weights_.push_back(uploaded(weights));
}

ForwardArguments DeviceWorkload::arguments(std::size_t set) const {
  ForwardArguments arguments = workload_.arguments(set, outputs_[set].data());
  arguments.table = table_.data();
  arguments.scales = scales_.data();
  if (!weights_.empty()) arguments.weights = weights_[set].data();
  arguments.ids = ids_[set].data();
  arguments.offsets = offsets_.data();
  return arguments;
}

HostBuffer DeviceWorkload::table_now() const {
  return downloaded(table_, static_cast<std::int64_t>(workload_.table->rows.size()));
}

HostBuffer DeviceWorkload::output(std::size_t set) const {
  return downloaded(outputs_[set], workload_.output_bytes());
}

void DeviceWorkload::poison(std::size_t set, Stream stream) const {
  constexpr std::uint8_t all_ones = 0xFF;
  device::fill_bytes(outputs_[set].data(), all_ones,
                     static_cast<std::size_t>(workload_.output_bytes()), stream);
}

}  // namespace jitbag::tools::bench
