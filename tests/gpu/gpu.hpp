#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jitbag/device.hpp"
#include "jitbag/engine.hpp"
#include "support/forward_case.hpp"

namespace jitbag::test {

/// Whether there is a GPU; says so where there is none.
[[nodiscard]] bool gpu_is_here();

/// The same, for one with programmatic dependent launch.
[[nodiscard]] bool dependent_launch_is_here();

/// The architecture of device 0.
[[nodiscard]] Target gpu_target();

template <class T>
device::Buffer uploaded(const std::vector<T>& values) {
  device::Buffer buffer(values.size() * sizeof(T));
  device::copy_to_device(buffer.data(), values.data(), buffer.size());
  return buffer;
}

template <class T>
std::vector<T> downloaded(const void* from, std::size_t count) {
  std::vector<T> values(count);
  device::copy_to_host(values.data(), from, count * sizeof(T));
  return values;
}

/// A case's arrays in device memory, and an output with poison in it and all round.
class DeviceCase {
 public:
  /// The output is aligned as the spec promises and no better.
  explicit DeviceCase(const ForwardCase& forward_case);

  [[nodiscard]] ForwardArguments arguments() const;

  /// Other ids, offsets and table in the same buffers, which must be of the same sizes, and an
  /// output of poison.
  void replace(const ForwardCase& forward_case);

  /// Compares with the oracle, after the work is done. Returns nothing, or one sentence.
  [[nodiscard]] std::string check() const;

  [[nodiscard]] std::vector<std::byte> output() const;

 private:
  const ForwardCase* case_;
  device::Buffer table_, ids_, offsets_, output_;
  std::size_t output_begin_;
};

/// Launches on the stream, waits, and compares with the oracle.
[[nodiscard]] std::string launch_and_check(const ForwardKernel& kernel,
                                           const ForwardCaseOptions& options,
                                           const device::OwnedStream& stream);

}  // namespace jitbag::test
