#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "jitbag/device.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag {

/// Kernels on a stream, as enqueue_sort() and what is built on it launch them.
class SortedOnGpu {
 public:
  SortedOnGpu(std::span<const Kernel> kernels, LaunchMode mode, Stream stream)
      : kernels_(kernels), mode_(mode), stream_(stream) {}

  void fill(void* address, std::uint8_t byte, std::int64_t bytes) const {
    device::fill_bytes(address, byte, static_cast<std::size_t>(bytes), stream_);
  }

  /// `kernel` is an enumerator, whose number is the kernel's place.
  void launch(auto kernel, std::int64_t blocks, int threads, auto... arguments) const {
    const std::array<void*, sizeof...(arguments)> parameters = {&arguments...};
    kernels_[static_cast<std::size_t>(kernel)].launch({.blocks_x = static_cast<unsigned>(blocks),
                                                       .threads_x = static_cast<unsigned>(threads),
                                                       .mode = mode_},
                                                      parameters, stream_);
  }

 private:
  std::span<const Kernel> kernels_;
  LaunchMode mode_;
  Stream stream_;
};

}  // namespace jitbag
