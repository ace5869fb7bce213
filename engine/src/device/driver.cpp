#include "device/driver.hpp"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

#include <array>

#include "jitbag/device.hpp"
#include "jitbag/error.hpp"

namespace jitbag::device {
namespace {

constexpr const char* library_name = "libcuda.so.1";

template <class Function>
void resolve(Function& function, void* handle, const char* name, const std::string& path) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (!function) {
    throw Error(
        ErrorKind::missing_library,
        fmt::format("The CUDA driver at {} has no function {}; jitbag needs a driver of CUDA 12 "
                    "or later.",
                    path, name));
  }
}

std::string path_of(void* handle) {
  void* symbol = ::dlsym(handle, "cuInit");
  Dl_info info{};
  return symbol && ::dladdr(symbol, &info) != 0 && info.dli_fname ? info.dli_fname : library_name;
}

DriverFunctions open() {
  void* handle = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    throw Error(
        ErrorKind::missing_library,
        fmt::format(
            "The CUDA driver was not found ({}). Install the NVIDIA driver to run on a GPU; "
            "compiling kernels and the cpu backend work without it.",
            ::dlerror()));
  }
  DriverFunctions functions;
  functions.path = path_of(handle);
#define JITBAG_BIND(name) resolve(functions.name, handle, #name, functions.path);
  JITBAG_DRIVER_FUNCTIONS(JITBAG_BIND)
#undef JITBAG_BIND
  if (const CUresult result = functions.cuInit(0); result != CUDA_SUCCESS) {
    const char* words = "unknown error";
    functions.cuGetErrorString(result, &words);
    throw Error(ErrorKind::no_device,
                fmt::format("The CUDA driver at {} did not start: {}. See what nvidia-smi says.",
                            functions.path, words));
  }
  return functions;
}

}  // namespace

const DriverFunctions& driver_functions() {
  static const DriverFunctions functions = open();
  return functions;
}

void require(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return;
  const char* words = "unknown error";
  driver_functions().cuGetErrorString(result, &words);
  throw Error(ErrorKind::device_failed,
              fmt::format("{} failed: {} (CUDA error {}).", what, words, static_cast<int>(result)));
}

CUdevice current_device() {
  const DriverFunctions& cuda = driver_functions();
  CUdevice device = 0;
  if (cuda.cuCtxGetDevice(&device) == CUDA_SUCCESS) return device;
  static const CUcontext primary = [&] {
    if (devices().empty()) {
      throw Error(ErrorKind::no_device, "The CUDA driver finds no GPU; see what nvidia-smi says.");
    }
    CUdevice first = 0;
    CUcontext context = nullptr;
    require(cuda.cuDeviceGet(&first, 0), "Getting device 0");
    require(cuda.cuDevicePrimaryCtxRetain(&context, first), "Retaining the context of device 0");
    return context;
  }();
  require(cuda.cuCtxSetCurrent(primary), "Setting the context of device 0");
  require(cuda.cuCtxGetDevice(&device), "Getting the context's device");
  return device;
}

Target target_of(CUdevice device) {
  const DriverFunctions& cuda = driver_functions();
  Target target;
  require(cuda.cuDeviceGetAttribute(&target.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                    device),
          "Reading the compute capability");
  require(cuda.cuDeviceGetAttribute(&target.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                    device),
          "Reading the compute capability");
  return target;
}

std::string name_of(CUdevice device) {
  std::array<char, 256> name{};
  require(driver_functions().cuDeviceGetName(name.data(), static_cast<int>(name.size()), device),
          "Reading the device's name");
  return name.data();
}

}  // namespace jitbag::device
