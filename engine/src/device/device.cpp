#include "jitbag/device.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "device/driver.hpp"
#include "jitbag/error.hpp"

namespace jitbag::device {
namespace {

CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

std::int64_t attribute(CUdevice device, CUdevice_attribute what) {
  int value = 0;
  require(driver_functions().cuDeviceGetAttribute(&value, what, device),
          "Reading a device attribute");
  return value;
}

Info info_of(int ordinal) {
  const DriverFunctions& cuda = driver_functions();
  CUdevice device = 0;
  require(cuda.cuDeviceGet(&device, ordinal), fmt::format("Getting device {}", ordinal));
  std::size_t memory = 0;
  require(cuda.cuDeviceTotalMem_v2(&memory, device), "Reading the device's memory size");
  return {.ordinal = ordinal,
          .name = name_of(device),
          .target = target_of(device),
          .multiprocessors =
              static_cast<int>(attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)),
          .l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
          .memory_bytes = static_cast<std::int64_t>(memory)};
}

}  // namespace

Driver driver() {
  int version = 0;
  require(driver_functions().cuDriverGetVersion(&version), "Reading the driver's version");
  return {driver_functions().path, fmt::format("{}.{}", version / 1000, version % 1000 / 10)};
}

std::vector<Info> devices() {
  int count = 0;
  require(driver_functions().cuDeviceGetCount(&count), "Counting devices");
  std::vector<Info> found;
  found.reserve(static_cast<std::size_t>(count));
  for (int ordinal = 0; ordinal < count; ++ordinal) found.push_back(info_of(ordinal));
  return found;
}

Context::Context(int ordinal) : device_(0) {
  const DriverFunctions& cuda = driver_functions();
  int count = 0;
  require(cuda.cuDeviceGetCount(&count), "Counting devices");
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ErrorKind::no_device,
                fmt::format("There is no device {}; this machine has {}.", ordinal, count));
  }
  require(cuda.cuDeviceGet(&device_, ordinal), "Getting the device");
  CUcontext context = nullptr;
  require(cuda.cuDevicePrimaryCtxRetain(&context, device_), "Retaining the device's context");
  require(cuda.cuCtxPushCurrent_v2(context), "Making the device's context current");
}

Context::~Context() {
  CUcontext popped = nullptr;
  driver_functions().cuCtxPopCurrent_v2(&popped);
  driver_functions().cuDevicePrimaryCtxRelease_v2(device_);
}

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  CUdeviceptr pointer = 0;
  require(driver_functions().cuMemAlloc_v2(&pointer, bytes),
          fmt::format("Allocating {} bytes of device memory", bytes));
  data_ = reinterpret_cast<void*>(pointer);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (data_) driver_functions().cuMemFree_v2(address(data_));
}

void copy_to_device(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  require(driver_functions().cuMemcpyHtoD_v2(address(target), source, bytes),
          "Copying to the device");
  // From pageable memory the call may return while the last of it is still on its way (CUDA driver
  // API, "API synchronization behavior"), and a stream of ours would not wait for that.
  require(driver_functions().cuStreamSynchronize(nullptr), "Copying to the device");
}

void copy_to_host(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  require(driver_functions().cuMemcpyDtoH_v2(target, address(source), bytes),
          "Copying to the host");
}

void copy_on_device(void* target, const void* source, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  require(driver_functions().cuMemcpyDtoDAsync_v2(address(target), address(source), bytes, stream),
          "Copying on the device");
}

void fill_bytes(void* target, std::uint8_t value, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  require(driver_functions().cuMemsetD8Async(address(target), value, bytes, stream),
          "Filling device memory");
}

OwnedStream::OwnedStream() {
  require(driver_functions().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "Making a stream");
}
OwnedStream::~OwnedStream() {
  driver_functions().cuStreamDestroy_v2(stream_);
}
void OwnedStream::synchronize() const {
  require(driver_functions().cuStreamSynchronize(stream_), "Work on the device");
}

Event::Event() {
  require(driver_functions().cuEventCreate(&event_, CU_EVENT_DEFAULT), "Making an event");
}
Event::~Event() {
  driver_functions().cuEventDestroy_v2(event_);
}
void Event::record(Stream stream) {
  require(driver_functions().cuEventRecord(event_, stream), "Recording an event");
}
double Event::elapsed_ms(const Event& start, const Event& stop) {
  float milliseconds = 0;
  require(driver_functions().cuEventSynchronize(stop.event_), "Work on the device");
  require(driver_functions().cuEventElapsedTime(&milliseconds, start.event_, stop.event_),
          "Reading the time between events");
  return milliseconds;
}

Graph::Graph(Stream stream, const std::function<void()>& work) {
  const DriverFunctions& cuda = driver_functions();
  require(cuda.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
          "Starting a capture");
  CUgraph graph = nullptr;
  try {
    work();
  } catch (...) {
    // The stream must leave capture mode whatever the work did.
    if (cuda.cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS) cuda.cuGraphDestroy(graph);
    throw;
  }
  require(cuda.cuStreamEndCapture(stream, &graph), "Ending a capture");
  const CUresult result = cuda.cuGraphInstantiateWithFlags(&graph_, graph, 0);
  cuda.cuGraphDestroy(graph);
  require(result, "Instantiating a graph");
}
Graph::~Graph() {
  driver_functions().cuGraphExecDestroy(graph_);
}
void Graph::launch(Stream stream) const {
  require(driver_functions().cuGraphLaunch(graph_, stream), "Launching a graph");
}

}  // namespace jitbag::device
