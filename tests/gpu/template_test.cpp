#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/caught.hpp"
#include "support/suite_cache.hpp"
#include "support/temporary_folder.hpp"

namespace jitbag::test {
namespace {

KernelTemplate scale(const std::string& factor) {
  return {.name = "scale.cu",
          .text = R"(
extern "C" __global__ void scale(float* values, int count) {
  extern __shared__ float scratch[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  scratch[threadIdx.x] = values[i];
  values[i] = scratch[threadIdx.x] * factor;
}
)",
          .entry = "scale",
          .constants = {{"float", "factor", factor}}};
}

TEST_CASE("a template of the caller's own runs with its constants, from compile and from disk",
          "[compiles]") {
  if (!gpu_is_here()) return;
  const TemporaryFolder folder;
  const device::Context context(0);
  const device::OwnedStream stream;
  for (const KernelOrigin origin : {KernelOrigin::compiled, KernelOrigin::disk}) {
    Engine engine({.cache = cache::CacheOptions{.directory = folder.path()}});
    const Kernel& doubled = engine.kernel(scale("2.0f"));
    const Kernel& halved = engine.kernel(scale("0.5f"));
    CHECK(&engine.kernel(scale("2.0f")) == &doubled);
    CHECK(doubled.artifact().origin == origin);
    CHECK(doubled.artifact().key != halved.artifact().key);

    std::vector<float> values(1000);
    std::iota(values.begin(), values.end(), 0.0f);
    const device::Buffer buffer = uploaded(values);
    void* data = buffer.data();
    int count = 1000;
    const std::array<void*, 2> arguments = {&data, &count};
    const LaunchShape shape = {.blocks_x = 8, .threads_x = 128, .shared_bytes = 512};
    doubled.launch(shape, arguments, stream.get());
    doubled.launch(shape, arguments, stream.get());
    halved.launch(shape, arguments, stream.get());
    stream.synchronize();
    const auto result = downloaded<float>(buffer.data(), 1000);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(result[i] == 2.0f * values[i]);
  }
}

TEST_CASE("a launch that the driver refuses is a sentence with the shape in it") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const Kernel& kernel = engine.kernel(scale("1.0f"));
  const std::array<void*, 2> arguments = {};
  const std::string thrown =
      caught([&] { kernel.launch({.blocks_x = 1, .threads_x = 4096}, arguments, stream.get()); });
  CHECK(thrown.find("device_failed: Launching scale from ") == 0);
  CHECK(thrown.find("1 blocks of 4096 threads") != std::string::npos);
}

}  // namespace
}  // namespace jitbag::test
