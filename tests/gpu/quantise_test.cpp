#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "jitbag/host.hpp"
#include "support/caught.hpp"
#include "support/quantise_case.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

/// A poisoned table on the device, what the quantiser makes of it, and whether that is the table
/// expected: nothing, or one sentence.
std::string launch_and_check(const Quantiser& quantiser, const ForwardSpec& spec,
                             const std::vector<float>& values, const QuantisedTable& expected,
                             const device::OwnedStream& stream) {
  QuantisedTable table(spec, expected.num_rows);
  const device::Buffer from = uploaded(values);
  const device::Buffer bytes = uploaded(table.bytes);
  const device::Buffer scales = uploaded(table.scales);
  QuantiseArguments arguments;
  arguments.values = static_cast<const float*>(from.data());
  arguments.num_rows = table.num_rows;
  arguments.table = static_cast<std::byte*>(bytes.data()) + table.begin;
  arguments.scales = scales.data();
  quantiser.launch(arguments, stream.get());
  stream.synchronize();
  table.bytes = downloaded<std::byte>(bytes.data(), table.bytes.size());
  table.scales = downloaded<std::byte>(scales.data(), table.scales.size());
  return difference(table, expected, spec);
}

TEST_CASE("the quantiser makes on the GPU the bytes that host::quantise makes") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  for (const ForwardSpec& spec : quantiser_specs()) {
    INFO("JITBAG_TEST_SEED=" << seed() << " " << to_text(spec) << " alignment " << spec.alignment);
    const Quantiser& quantiser = engine.quantiser(spec);
    CHECK(&engine.quantiser(spec) == &quantiser);
    std::vector<float> values = rows_to_quantise(3000, spec.dim, seed());
    const QuantisedTable expected = quantised_on_host(spec, values);
    CHECK(launch_and_check(quantiser, spec, values, expected, stream) == "");
    const QuantisedTable spoiled = spoil_rows(spec, expected, values);
    CHECK(launch_and_check(quantiser, spec, values, spoiled, stream) == "");
  }
}

TEST_CASE("a quantiser's launch with bad arguments is a sentence, one without rows does nothing") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  ForwardSpec spec;
  spec.dim = 8;
  spec.table_type = DataType::int8;
  const Quantiser& quantiser = engine.quantiser(spec);
  const device::Buffer memory(1024);
  QuantiseArguments arguments;
  CHECK(caught([&] { quantiser.launch(arguments, stream.get()); }) == "nothing");
  arguments.num_rows = 1;
  arguments.table = arguments.scales = memory.data();
  CHECK(caught([&] { quantiser.launch(arguments, stream.get()); }) ==
        "invalid_argument: values is a null pointer although it has 8 elements; pass its address.");
  arguments.num_rows = -1;
  CHECK(caught([&] { quantiser.launch(arguments, stream.get()); }) ==
        "invalid_argument: num_rows is -1; it must be 0 or more.");
}

/// Element i of a table that 32 bits cannot count, as the device computes it below.
float large_value(std::int64_t index) {
  return static_cast<float>(static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15u >> 40) - 1e7f;
}

KernelTemplate fill_values() {
  return {.name = "fill_values.cu",
          .text = R"(
extern "C" __global__ void fill_values(float* values, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    values[i] = (float)((unsigned long long)i * 0x9e3779b97f4a7c15ull >> 40) - 1e7f;
  }
}
)",
          .entry = "fill_values"};
}

/// Rows at both ends, where elements or bytes pass a multiple of 2^31, and in between.
std::set<std::int64_t> sampled_rows(std::int64_t num_rows, std::int64_t row_size) {
  std::set<std::int64_t> rows = {0, 1, num_rows - 2, num_rows - 1};
  for (std::int64_t passed = std::int64_t{1} << 31; passed / row_size < num_rows; passed *= 2) {
    for (std::int64_t i = -2; i <= 2; ++i) rows.insert(passed / row_size + i);
  }
  for (std::int64_t i = 1; i < 300; ++i) rows.insert(num_rows / 300 * i);
  while (!rows.empty() && *rows.rbegin() >= num_rows) rows.erase(*rows.rbegin());
  return rows;
}

TEST_CASE("a table of more than 2^31 codes is quantised to its last row") {
  if (!gpu_is_here()) return;
  constexpr std::int64_t num_rows = 70'000'000;
  constexpr std::int64_t dim = 32;
  ForwardSpec spec;
  spec.dim = dim;
  spec.table_type = DataType::int8;
  spec.row_scale = fbgemm::inference_row();
  spec = validated(spec);
  const auto row_size = static_cast<std::size_t>(spec.row_stride);

  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const device::Buffer values(static_cast<std::size_t>(num_rows * dim) * sizeof(float));
  const device::Buffer table(static_cast<std::size_t>(num_rows) * row_size);
  void* data = values.data();
  std::int64_t count = num_rows * dim;
  const std::array<void*, 2> fill = {&data, &count};
  engine.kernel(fill_values()).launch({.blocks_x = 4096, .threads_x = 256}, fill, stream.get());
  QuantiseArguments arguments;
  arguments.values = static_cast<const float*>(values.data());
  arguments.num_rows = num_rows;
  arguments.table = table.data();
  engine.quantiser(spec).launch(arguments, stream.get());
  stream.synchronize();

  for (const std::int64_t row : sampled_rows(num_rows, dim)) {
    INFO("row " << row);
    std::vector<float> on_host;
    for (std::int64_t i = 0; i < dim; ++i) on_host.push_back(large_value(row * dim + i));
    const auto* at = static_cast<const std::byte*>(table.data()) + row * spec.row_stride;
    CHECK(downloaded<std::byte>(at, row_size) == quantised_on_host(spec, on_host).bytes);
  }
}

}  // namespace
}  // namespace jitbag::test
