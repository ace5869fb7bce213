#include "bench/gather_ceiling.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "statistics.hpp"

namespace jitbag::tools::bench {
namespace {

constexpr int gathered_row_bytes = 256;
constexpr int block_threads = 256;
constexpr int rows_per_group = 64;

// Sixteen lanes read a row, 16 bytes each. Row numbers are computed, so that rows are all that is
// read; what was read is used in a way that the compiler cannot leave out.
constexpr const char* source = R"(
__device__ unsigned mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

extern "C" __global__ void __launch_bounds__(256)
    gather(const uint4* table, unsigned num_rows, unsigned seed, unsigned* sink) {
  const unsigned lane = threadIdx.x % 16;
  const unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
  unsigned all = 0;
  for (unsigned row = 0; row < rows_per_group; row += in_flight) {
    uint4 loaded[in_flight];
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      const unsigned number = mixed(seed + group * rows_per_group + row + i);
      loaded[i] = table[static_cast<long long>(__umulhi(number, num_rows)) * 16 + lane];
    }
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i)
      all |= loaded[i].x | loaded[i].y | loaded[i].z | loaded[i].w;
  }
  if (all == 1) *sink = all;
}
)";

struct GatheredTable {
  const device::Buffer& rows;
  unsigned num_rows;
  const device::Buffer& sink;
};

double median_gb_per_s(const Kernel& kernel, const GatheredTable& table, unsigned blocks) {
  constexpr int warmups = 2;
  constexpr int measurements = 11;
  const double bytes = static_cast<double>(blocks) * (block_threads / 16.0) * rows_per_group *
                       static_cast<double>(gathered_row_bytes);
  const device::OwnedStream stream;
  device::Event start;
  device::Event stop;
  std::vector<double> rates;
  for (int i = -warmups; i < measurements; ++i) {
    void* rows = table.rows.data();
    void* sink = table.sink.data();
    unsigned num_rows = table.num_rows;
    auto seed = static_cast<unsigned>(i + warmups) << 28;
    const std::array<void*, 4> arguments = {&rows, &num_rows, &seed, &sink};
    start.record(stream.get());
    kernel.launch({.blocks_x = blocks, .threads_x = block_threads}, arguments, stream.get());
    stop.record(stream.get());
    const double seconds = device::Event::elapsed_ms(start, stop) / 1000;
    if (i >= 0) rates.push_back(bytes / seconds / 1e9);
  }
  return median(rates);
}

}  // namespace

KernelTemplate gathering_kernel(int rows_in_flight) {
  return {.name = "gather.cu",
          .text = source,
          .entry = "gather",
          .constants = {{"unsigned", "in_flight", std::to_string(rows_in_flight)},
                        {"unsigned", "rows_per_group", std::to_string(rows_per_group)}}};
}

double measure_gather_gb_per_s(Engine& engine, const device::Info& gpu) {
  const std::int64_t table_bytes = std::min(
      std::max<std::int64_t>(gpu.l2_bytes * 64, std::int64_t{1} << 32), gpu.memory_bytes / 8);
  const device::Buffer rows(static_cast<std::size_t>(table_bytes));
  const device::Buffer sink(sizeof(unsigned));
  const GatheredTable table{rows, static_cast<unsigned>(table_bytes / gathered_row_bytes), sink};
  // Many waves of blocks, a millisecond's work.
  const auto blocks = static_cast<unsigned>(gpu.multiprocessors) * 128;
  double best = 0;
  for (const int rows_in_flight : {4, 8, 16}) {
    const Kernel& kernel = engine.kernel(gathering_kernel(rows_in_flight));
    best = std::max(best, median_gb_per_s(kernel, table, blocks));
  }
  return best;
}

}  // namespace jitbag::tools::bench
