#pragma once

#include <vector>

#include "bench/workload.hpp"
#include "jitbag/device.hpp"

namespace jitbag::tools::bench {

/// A buffer of no bytes has no address, and a kernel wants one: of at least a few.
[[nodiscard]] device::Buffer device_buffer(std::int64_t bytes);
[[nodiscard]] device::Buffer uploaded(const HostBuffer& host);
[[nodiscard]] HostBuffer downloaded(const device::Buffer& buffer, std::int64_t bytes);

/// The workload's data in device memory, with an output for each set of ids.
class DeviceWorkload {
 public:
  explicit DeviceWorkload(const Workload& workload);

  [[nodiscard]] ForwardArguments arguments(std::size_t set) const;
  [[nodiscard]] void* table() const { return table_.data(); }
  [[nodiscard]] HostBuffer table_now() const;
  [[nodiscard]] HostBuffer output(std::size_t set) const;

  /// Fills the output with NaN, so that an element that is not written is seen.
  void poison(std::size_t set, Stream stream) const;

 private:
  const Workload& workload_;
  device::Buffer table_;
  device::Buffer scales_;
  device::Buffer offsets_;
  std::vector<device::Buffer> ids_;
  std::vector<device::Buffer> weights_;
  std::vector<device::Buffer> outputs_;
};

}  // namespace jitbag::tools::bench
