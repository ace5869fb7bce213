#include "device/kernel.hpp"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <utility>

#include "device/driver.hpp"
#include "jitbag/error.hpp"

namespace jitbag {

/// A library does not belong to a context: the driver puts it into each one that launches from it.
struct Kernel::State {
  explicit State(Artifact made) : artifact(std::move(made)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (library) device::driver_functions().cuLibraryUnload(library);
  }

  Artifact artifact;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
};

Kernel::Kernel(std::unique_ptr<State> state) : state_(std::move(state)) {}
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;
Kernel::~Kernel() = default;

const Artifact& Kernel::artifact() const noexcept {
  return state_->artifact;
}

void Kernel::launch(const LaunchShape& shape, std::span<void* const> arguments,
                    Stream stream) const {
  CUlaunchAttribute dependent{};
  dependent.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  dependent.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = shape.blocks_x;
  config.gridDimY = shape.blocks_y;
  config.gridDimZ = shape.blocks_z;
  config.blockDimX = shape.threads_x;
  config.blockDimY = shape.threads_y;
  config.blockDimZ = shape.threads_z;
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream;
  config.attrs = &dependent;
  config.numAttrs = shape.mode == LaunchMode::dependent ? 1 : 0;

  const device::DriverFunctions& cuda = device::driver_functions();
  const auto try_launch = [&] {
    // The driver takes a CUkernel where it takes a CUfunction (cuLaunchKernelEx, "f").
    return cuda.cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(state_->kernel),
                                 const_cast<void**>(arguments.data()), nullptr);
  };
  CUresult result = try_launch();
  if (result == CUDA_ERROR_INVALID_CONTEXT) {
    static_cast<void>(device::current_device());  // gives this thread a context
    result = try_launch();
  }
  if (result != CUDA_SUCCESS) {
    device::require(result, fmt::format("Launching {} from {} in {} blocks of {} threads",
                                        state_->artifact.entry, state_->artifact.key,
                                        shape.blocks_x, shape.threads_x));
  }
}

namespace device {

Kernel load(Artifact artifact) {
  const DriverFunctions& cuda = driver_functions();
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(current_device());  // gives this thread a context
  auto state = std::make_unique<Kernel::State>(std::move(artifact));
  const std::string what = fmt::format("Loading {} (key {}, from {})", state->artifact.entry,
                                       state->artifact.key, name(state->artifact.origin));
  require(cuda.cuLibraryLoadData(&state->library, state->artifact.cubin.data(), nullptr, nullptr, 0,
                                 nullptr, nullptr, 0),
          what);
  require(cuda.cuLibraryGetKernel(&state->kernel, state->library, state->artifact.entry.c_str()),
          what);
  // Libraries are loaded lazily: asking for the function loads it now, and not in the first launch.
  CUfunction function = nullptr;
  require(cuda.cuKernelGetFunction(&function, state->kernel), what);
  state->artifact.times.load_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return Kernel(std::move(state));
}

}  // namespace device
}  // namespace jitbag
