#include "device/reports.hpp"

#include <atomic>

#include "device/driver.hpp"
#include "spec/arguments.hpp"

namespace jitbag {
namespace {

BadInput input_of(const BadInputReport& report) {
  BadInput bad{.kind = report.is_bag != 0 ? BadInput::Kind::bag : BadInput::Kind::id,
               .bag = report.bag,
               .position = report.position,
               .value = report.value,
               .limit = report.limit};
  if (report.table >= 0) bad.table = report.table;
  return bad;
}

}  // namespace

Reports::~Reports() {
  for (const auto& [context, place] : places_)
    device::driver_functions().cuMemFreeHost(place.on_host);
}

Reports::Place& Reports::current_place() {
  const device::DriverFunctions& cuda = device::driver_functions();
  static_cast<void>(device::current_device());  // gives this thread a context
  unsigned long long context = 0;
  device::require(cuda.cuCtxGetId(nullptr, &context), "Getting the current context's id");
  Place& place = places_[context];
  if (!place.on_host) {
    void* memory = nullptr;
    device::require(cuda.cuMemHostAlloc(&memory, sizeof(BadInputReport), CU_MEMHOSTALLOC_DEVICEMAP),
                    "Allocating the memory for reports of bad input");
    place.on_host = static_cast<BadInputReport*>(memory);
    *place.on_host = {};
    CUdeviceptr address = 0;
    device::require(cuda.cuMemHostGetDevicePointer_v2(&address, memory, 0),
                    "Mapping the memory for reports of bad input");
    place.on_device = reinterpret_cast<BadInputReport*>(address);
  }
  return place;
}

BadInputReport* Reports::of_current_context() {
  const std::lock_guard lock(mutex_);
  return current_place().on_device;
}

void Reports::check() {
  const std::lock_guard lock(mutex_);
  BadInputReport& report = *current_place().on_host;
  std::atomic_ref<unsigned> found(report.found);
  const unsigned before = found.load(std::memory_order_acquire);
  if (before == 0) return;
  const BadInputReport seen = report;
  std::atomic_thread_fence(std::memory_order_acquire);
  // A kernel that is still running is writing a lower position: the next check will see it whole.
  if (found.load(std::memory_order_relaxed) != before) return;
  found.store(0, std::memory_order_release);
  throw bad_input_error(input_of(seen));
}

}  // namespace jitbag
