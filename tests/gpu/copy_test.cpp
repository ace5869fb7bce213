#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

const KernelTemplate overwrite = {.name = "overwrite.cu",
                                  .text = R"(
extern "C" __global__ void overwrite(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = 7;
}
)",
                                  .entry = "overwrite",
                                  .constants = {},
                                  .options = {}};

TEST_CASE("a copy to the device has ended when it returns, for a stream that waits for no other") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const Kernel& kernel = engine.kernel(overwrite);
  int count = 1 << 20;
  const std::vector<int> zeros(static_cast<std::size_t>(count));
  device::Buffer buffer(zeros.size() * sizeof(int));
  void* data = buffer.data();
  const std::array<void*, 2> arguments = {&data, &count};
  for (int repeat = 0; repeat < 200; ++repeat) {
    device::copy_to_device(data, zeros.data(), buffer.size());
    kernel.launch({.blocks_x = 4096, .threads_x = 256}, arguments, stream.get());
    stream.synchronize();
    const auto values = downloaded<int>(data, zeros.size());
    REQUIRE(std::count(values.begin(), values.end(), 7) == count);
  }
}

}  // namespace
}  // namespace jitbag::test
