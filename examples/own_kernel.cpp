// A kernel of one's own by the engine's path: text and constants in, a cached, launchable kernel
// out.
#include <array>
#include <cstdio>
#include <vector>

#include "jitbag/jitbag.hpp"

namespace {

const jitbag::KernelTemplate scale = {.name = "scale.cu",
                                      .text = R"(
extern "C" __global__ void scale(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}
)",
                                      .entry = "scale",
                                      .constants = {{"float", "factor", "3.0f"}},
                                      .options = {}};

void launch_on_gpu(jitbag::Engine& engine) {
  namespace device = jitbag::device;
  std::vector<float> values(1000, 2.0f);
  const std::size_t bytes = values.size() * sizeof(float);
  device::Buffer buffer(bytes);
  device::copy_to_device(buffer.data(), values.data(), bytes);

  void* pointer = buffer.data();
  int count = static_cast<int>(values.size());
  const std::array<void*, 2> parameters = {&pointer, &count};
  const device::OwnedStream stream;
  engine.kernel(scale).launch({.blocks_x = 4, .threads_x = 256}, parameters, stream.get());
  stream.synchronize();
  device::copy_to_host(values.data(), buffer.data(), bytes);
  std::printf("2 * 3 = %g\n", values[999]);
}

}  // namespace

int main() {
  try {
    jitbag::Engine engine;
    // Machine code needs no GPU: this much works on a build machine.
    const jitbag::Artifact artifact =
        engine.artifact(jitbag::specialise(scale, {.major = 9, .minor = 0}));
    std::printf("scale for sm_90: %zu bytes, %d registers, from %s, key %s\n",
                artifact.cubin.size(), artifact.registers,
                std::string(name(artifact.origin)).c_str(), artifact.key.c_str());
    const jitbag::device::Context context(0);
    launch_on_gpu(engine);
    return 0;
  } catch (const jitbag::Error& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), error.details().c_str());
    // Without a GPU the machine code is all there is to show.
    return error.kind() == jitbag::ErrorKind::missing_library ||
                   error.kind() == jitbag::ErrorKind::no_device
               ? 0
               : 1;
  }
}
