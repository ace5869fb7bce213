// Pools bags of rows: on the GPU where there is one, else on the CPU, from the same spec and
// arguments.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "jitbag/jitbag.hpp"

namespace {

constexpr std::int64_t num_rows = 1000, dim = 8, batch = 3;

const jitbag::ForwardSpec spec = {.dim = dim,
                                  .bags = jitbag::CsrBags{},
                                  .table_type = jitbag::DataType::float32,
                                  .output_type = jitbag::DataType::float32,
                                  .id_type = jitbag::IntegerType::int64,
                                  .padding_id = 0};

void pool_on_cpu(const jitbag::ForwardArguments& arguments) {
  jitbag::host::forward(spec, arguments);
}

/// Copies the inputs to the device, pools there and copies the output back.
void pool_on_gpu(const jitbag::ForwardArguments& host, std::size_t ids, std::size_t offsets) {
  namespace device = jitbag::device;
  const device::Context context(0);
  const device::OwnedStream stream;
  const auto on_device = [](const void* data, std::size_t bytes) {
    device::Buffer buffer(bytes);
    device::copy_to_device(buffer.data(), data, bytes);
    return buffer;
  };
  const auto table = on_device(host.table, num_rows * dim * sizeof(float));
  const auto id_buffer = on_device(host.ids, ids * sizeof(std::int64_t));
  const auto offset_buffer = on_device(host.offsets, offsets * sizeof(std::int64_t));
  const device::Buffer output(batch * dim * sizeof(float));

  jitbag::Engine engine;
  const jitbag::ForwardKernel& kernel = engine.forward(spec);
  kernel.launch({.table = table.data(),
                 .num_rows = num_rows,
                 .ids = id_buffer.data(),
                 .num_ids = host.num_ids,
                 .offsets = offset_buffer.data(),
                 .output = output.data(),
                 .batch = batch},
                stream.get());
  stream.synchronize();
  device::copy_to_host(host.output, output.data(), batch * dim * sizeof(float));
  std::printf("kernel from %s, compiled in %.0f ms, loaded in %.2f ms\n",
              std::string(name(kernel.artifact().origin)).c_str(),
              kernel.artifact().times.compile_ms, kernel.artifact().times.load_ms);
}

bool has_gpu() {
  try {
    return !jitbag::device::devices().empty();
  } catch (const jitbag::Error& error) {
    std::printf("%s\n", error.what());
    return false;
  }
}

}  // namespace

int main() {
  try {
    std::vector<float> table(num_rows * dim);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i / dim);
    const std::vector<std::int64_t> ids = {10, 20, 0, 30, 7};
    const std::vector<std::int64_t> offsets = {0, 4, 4, 5};  // the second bag is empty
    std::vector<float> output(batch * dim);
    const jitbag::ForwardArguments arguments = {.table = table.data(),
                                                .num_rows = num_rows,
                                                .ids = ids.data(),
                                                .num_ids = static_cast<std::int64_t>(ids.size()),
                                                .offsets = offsets.data(),
                                                .output = output.data(),
                                                .batch = batch};
    if (has_gpu()) {
      pool_on_gpu(arguments, ids.size(), offsets.size());
    } else {
      pool_on_cpu(arguments);
    }
    // The first bag is the mean of rows 10, 20 and 30: id 0 is padding.
    std::printf("bags: %g %g %g\n", output[0], output[dim], output[2 * dim]);
    return output[0] == 20 && output[dim] == 0 && output[2 * dim] == 7 ? 0 : 1;
  } catch (const jitbag::Error& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), error.details().c_str());
    return 1;
  }
}
