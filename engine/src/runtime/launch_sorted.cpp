#include "runtime/launch_sorted.hpp"

#include <array>
#include <cstddef>

#include "jitbag/device.hpp"
#include "runtime/enqueue_sorted.hpp"

namespace jitbag {
namespace {

/// The kernels of one gradient on a stream.
class Gpu {
 public:
  Gpu(std::span<const Kernel> kernels, LaunchMode mode, Stream stream)
      : kernels_(kernels), mode_(mode), stream_(stream) {}

  void fill(void* address, std::uint8_t byte, std::int64_t bytes) const {
    device::fill_bytes(address, byte, static_cast<std::size_t>(bytes), stream_);
  }

  void launch(SortedKernel kernel, std::int64_t blocks, int threads, auto... arguments) const {
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

}  // namespace

void launch_sorted(std::span<const Kernel> kernels, const BackwardSpec& spec,
                   const ForwardSpec& table, const Strategy& shape, const SortLayout& layout,
                   const BackwardArguments& arguments, BadInputReport* report, Stream stream) {
  Gpu gpu(kernels, shape.launch_mode, stream);
  enqueue_sorted(gpu, spec, table, shape, layout, arguments, report);
}

}  // namespace jitbag
