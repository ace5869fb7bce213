#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

#include "jitbag/target.hpp"

namespace jitbag::device {

/// The driver's functions that jitbag calls, by their names in libcuda.so.1.
#define JITBAG_DRIVER_FUNCTIONS(F) \
  F(cuInit)                        \
  F(cuDriverGetVersion)            \
  F(cuGetErrorString)              \
  F(cuDeviceGetCount)              \
  F(cuDeviceGet)                   \
  F(cuDeviceGetName)               \
  F(cuDeviceGetAttribute)          \
  F(cuDeviceTotalMem_v2)           \
  F(cuDevicePrimaryCtxRetain)      \
  F(cuDevicePrimaryCtxRelease_v2)  \
  F(cuCtxGetCurrent)               \
  F(cuCtxSetCurrent)               \
  F(cuCtxPushCurrent_v2)           \
  F(cuCtxPopCurrent_v2)            \
  F(cuCtxGetDevice)                \
  F(cuCtxGetId)                    \
  F(cuMemAlloc_v2)                 \
  F(cuMemFree_v2)                  \
  F(cuMemHostAlloc)                \
  F(cuMemFreeHost)                 \
  F(cuMemHostGetDevicePointer_v2)  \
  F(cuMemcpyHtoD_v2)               \
  F(cuMemcpyDtoH_v2)               \
  F(cuMemcpyDtoDAsync_v2)          \
  F(cuMemsetD8Async)               \
  F(cuStreamCreate)                \
  F(cuStreamDestroy_v2)            \
  F(cuStreamSynchronize)           \
  F(cuStreamBeginCapture_v2)       \
  F(cuStreamEndCapture)            \
  F(cuEventCreate)                 \
  F(cuEventDestroy_v2)             \
  F(cuEventRecord)                 \
  F(cuEventSynchronize)            \
  F(cuEventElapsedTime)            \
  F(cuGraphDestroy)                \
  F(cuGraphInstantiateWithFlags)   \
  F(cuGraphExecDestroy)            \
  F(cuGraphLaunch)                 \
  F(cuLibraryLoadData)             \
  F(cuLibraryUnload)               \
  F(cuLibraryGetKernel)            \
  F(cuKernelGetFunction)           \
  F(cuKernelSetAttribute)          \
  F(cuLaunchKernelEx)

/// The opened driver library. cuInit has been called.
struct DriverFunctions {
#define JITBAG_MEMBER(name) decltype(&::name) name = nullptr;
  JITBAG_DRIVER_FUNCTIONS(JITBAG_MEMBER)
#undef JITBAG_MEMBER
  std::string path;
};

/// Opens libcuda.so.1 at the first call. Throws Error: missing_library where there is no driver or
/// one older than CUDA 12, no_device where the driver finds no GPU.
[[nodiscard]] const DriverFunctions& driver_functions();

/// Throws Error(device_failed) unless the result is CUDA_SUCCESS: "what: the driver's words."
void require(CUresult result, std::string_view what);

/// The device of the calling thread's context. A thread without a context gets the primary context
/// of device 0, as from the CUDA runtime; that context is kept until the process ends.
[[nodiscard]] CUdevice current_device();

[[nodiscard]] Target target_of(CUdevice device);

/// The device model, such as "NVIDIA H200".
[[nodiscard]] std::string name_of(CUdevice device);

}  // namespace jitbag::device
