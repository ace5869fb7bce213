#pragma once

#include <array>
#include <cstddef>
#include <optional>
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

/// A case's arrays in device memory, and outputs with poison in them and all round.
class DeviceCase {
 public:
  /// The output is aligned as the spec promises and no better.
  explicit DeviceCase(const ForwardCase& forward_case);

  [[nodiscard]] ForwardArguments arguments() const;

  /// Other inputs in the same buffers, which must be of the same sizes, and outputs of poison.
  void replace(const ForwardCase& forward_case);

  /// Compares with the oracle, after the work is done, and the inputs with what they were. Returns
  /// nothing, or one sentence.
  [[nodiscard]] std::string check() const;

  [[nodiscard]] std::vector<std::byte> output() const;

 private:
  /// An array of the host and its copy.
  struct Output {
    PlacedArray host;
    device::Buffer device;
    [[nodiscard]] void* data() const;
    [[nodiscard]] PlacedArray downloaded() const;
    void poison();
  };
  static Output make_output(std::size_t bytes, std::int64_t alignment, std::int64_t element);

  const ForwardCase* case_;
  std::array<device::Buffer, input_arrays> inputs_;
  Output output_, winners_;
};

/// Launches on the stream, waits, and compares with the oracle.
[[nodiscard]] std::string launch_and_check(const ForwardKernel& kernel,
                                           const ForwardCaseOptions& options,
                                           const device::OwnedStream& stream);

}  // namespace jitbag::test
