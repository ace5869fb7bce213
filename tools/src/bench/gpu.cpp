#include "bench/gpu.hpp"

#include <algorithm>
#include <vector>

#include "jitbag/error.hpp"
#include "statistics.hpp"

namespace jitbag::tools::bench {

std::optional<device::Info> find_gpu(const std::string& device) {
  if (device == "cpu") return std::nullopt;
  try {
    const std::vector<device::Info> gpus = device::devices();
    if (!gpus.empty()) return gpus.front();
  } catch (const Error&) {
    if (device == "cuda") throw;
    return std::nullopt;
  }
  if (device == "cuda")
    throw Error(ErrorKind::no_device,
                "The CUDA driver finds no GPU; use --device cpu, or see what nvidia-smi says.");
  return std::nullopt;
}

double measure_ceiling_gb_per_s(const device::Info& gpu) {
  // Far over the L2 cache, and a small part of the memory.
  const auto bytes = static_cast<std::size_t>(std::min(
      std::max<std::int64_t>(gpu.l2_bytes * 8, std::int64_t{1} << 28), gpu.memory_bytes / 8));
  constexpr int warmups = 2;
  constexpr int measurements = 11;
  const device::Buffer source(bytes);
  const device::Buffer target(bytes);
  const device::OwnedStream stream;
  device::Event start;
  device::Event stop;
  std::vector<double> rates;
  for (int i = -warmups; i < measurements; ++i) {
    start.record(stream.get());
    device::copy_on_device(target.data(), source.data(), bytes, stream.get());
    stop.record(stream.get());
    const double seconds = device::Event::elapsed_ms(start, stop) / 1000;
    if (i >= 0) rates.push_back(2 * static_cast<double>(bytes) / seconds / 1e9);
  }
  return median(rates);
}

}  // namespace jitbag::tools::bench
