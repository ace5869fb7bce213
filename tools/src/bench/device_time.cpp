#include "bench/device_time.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "statistics.hpp"

namespace jitbag::tools::bench {

DeviceTime measure_device(const Launch& launch, std::size_t sets,
                          const device::OwnedStream& stream) {
  constexpr int measurements = 20;
  constexpr int replays = 10;
  constexpr int warmups = 3;
  const device::Graph graph(stream.get(), [&] {
    for (std::size_t set = 0; set < sets; ++set) launch(set);
  });
  for (int i = 0; i < warmups; ++i) graph.launch(stream.get());
  device::Event start;
  device::Event stop;
  std::vector<double> times_us;
  for (int i = 0; i < measurements; ++i) {
    start.record(stream.get());
    for (int replay = 0; replay < replays; ++replay) graph.launch(stream.get());
    stop.record(stream.get());
    times_us.push_back(device::Event::elapsed_ms(start, stop) * 1000 /
                       (replays * static_cast<double>(sets)));
  }
  return {median(times_us), percentile(times_us, 95)};
}

// Batches short enough that the driver's queue never fills.
double measure_host_us(const Launch& launch, std::size_t sets, const device::OwnedStream& stream) {
  constexpr int batches = 21;
  constexpr std::size_t launches = 50;
  std::vector<double> times_us;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < launches; ++i) launch(i % sets);
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - start;
    stream.synchronize();
    times_us.push_back(elapsed.count() / launches);
  }
  return median(times_us);
}

KernelFacts facts(const Artifact& artifact, std::string strategy) {
  return {.strategy = std::move(strategy),
          .key = artifact.key,
          .compiler = artifact.compiler,
          .registers = artifact.registers,
          .shared_bytes = artifact.shared_bytes,
          .spill_bytes = artifact.spill_bytes,
          .cubin_bytes = artifact.cubin.size(),
          .origin = artifact.origin,
          .place = artifact.place,
          .times = artifact.times};
}

}  // namespace jitbag::tools::bench
