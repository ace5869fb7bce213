// Arrays that 32 bits cannot address, up to about 20 GB each. Their content is a formula that the
// device fills in and the host knows, so that no copy of them is needed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "jitbag/host.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

constexpr std::int64_t two_to_31 = std::int64_t{1} << 31;

/// Element i of every table here: float16 holds it exactly.
double table_value(std::int64_t index) {
  const auto mixed = static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15u >> 54;
  return static_cast<double>(mixed) - 512;
}

/// Id i of every array of ids here.
std::int64_t id_value(std::int64_t index, std::int64_t num_rows) {
  const auto mixed = static_cast<std::uint64_t>(index) * 0xd1342543de82ef95u >> 20;
  return static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(num_rows));
}

/// Code i of every quantised table here, from -128 to 127.
double code_value(std::int64_t index) {
  const auto mixed = static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15u >> 56;
  return static_cast<double>(static_cast<std::int8_t>(mixed));
}

/// The scale of row i of every quantised table here.
double scale_value(std::int64_t row) {
  return 0.25 * static_cast<double>(1 + row % 7);
}

/// Weight i of every array of weights here.
double weight_value(std::int64_t index) {
  return 0.25 * static_cast<double>(index % 11) - 1;
}

KernelTemplate fill() {
  return {.name = "fill.cu",
          .text = R"(
extern "C" __global__ void fill_table(unsigned short* table, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const float value = (float)((unsigned long long)i * 0x9e3779b97f4a7c15ull >> 54) - 512.0f;
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    table[i] = bits;
  }
}
extern "C" __global__ void fill_ids(int* ids, long long count, long long num_rows) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    ids[i] = (int)(((unsigned long long)i * 0xd1342543de82ef95ull >> 20) % num_rows);
  }
}
extern "C" __global__ void fill_codes(unsigned char* table, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    table[i] = (unsigned char)((unsigned long long)i * 0x9e3779b97f4a7c15ull >> 56);
  }
}
extern "C" __global__ void fill_scales(float* scales, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    scales[i] = 0.25f * (float)(1 + i % 7);
  }
}
extern "C" __global__ void fill_weights(unsigned short* weights, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const float value = 0.25f * (float)(i % 11) - 1.0f;
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    weights[i] = bits;
  }
}
)",
          .entry = "fill_table"};
}

/// A GPU with an Engine, and arrays after the formulas.
class LargeArrays {
 public:
  LargeArrays() : context_(0), engine_({.cache = suite_cache()}) {}

  device::Buffer table(std::int64_t elements) { return filled("fill_table", elements, 2); }
  device::Buffer codes(std::int64_t elements) { return filled("fill_codes", elements, 1); }
  device::Buffer scales(std::int64_t rows) { return filled("fill_scales", rows, 4); }
  device::Buffer weights(std::int64_t count) { return filled("fill_weights", count, 2); }

  device::Buffer ids(std::int64_t count, std::int64_t num_rows) {
    device::Buffer buffer(static_cast<std::size_t>(count) * 4);
    void* data = buffer.data();
    launch("fill_ids", std::array<void*, 3>{&data, &count, &num_rows});
    return buffer;
  }

  device::Buffer poisoned(std::int64_t elements, std::int64_t bytes = 2) {
    device::Buffer buffer(static_cast<std::size_t>(elements * bytes));
    device::fill_bytes(buffer.data(), 0xff, buffer.size(), stream_.get());
    return buffer;
  }

  void forward(const ForwardSpec& spec, const ForwardArguments& arguments) {
    engine_.forward(spec).launch(arguments, stream_.get());
    stream_.synchronize();
  }

 private:
  static constexpr LaunchShape shape = {.blocks_x = 4096, .threads_x = 256};

  void launch(const std::string& filler, std::span<void* const> arguments) {
    KernelTemplate kernel = fill();
    kernel.entry = filler;
    engine_.kernel(kernel).launch(shape, arguments, stream_.get());
  }

  device::Buffer filled(const std::string& filler, std::int64_t count, std::int64_t bytes) {
    device::Buffer buffer(static_cast<std::size_t>(count * bytes));
    void* data = buffer.data();
    launch(filler, std::array<void*, 2>{&data, &count});
    return buffer;
  }

  device::Context context_;
  Engine engine_;
  device::OwnedStream stream_;
};

ForwardSpec spec_of(std::int64_t dim, const BagLayout& bags, IntegerType ids) {
  ForwardSpec spec;
  spec.dim = dim;
  spec.bags = bags;
  spec.table_type = spec.output_type = DataType::float16;
  spec.id_type = ids;
  return spec;
}

/// Whether a bag's output in device memory is the mean of the table's rows with these ids.
bool is_mean(const void* output, std::int64_t bag, const std::vector<std::int64_t>& ids,
             std::int64_t dim) {
  const auto* first = static_cast<const std::uint16_t*>(output) + bag * dim;
  const auto row = downloaded<std::uint16_t>(first, static_cast<std::size_t>(dim));
  for (std::int64_t column = 0; column < dim; ++column) {
    double sum = 0;
    for (const std::int64_t id : ids) sum += table_value(id * dim + column);
    const double expected = sum / static_cast<double>(ids.size());
    const auto actual = static_cast<double>(host::float_from_float16(row[column]));
    // Sums are exact here; what is left is the rounding to float16.
    if (!(std::abs(actual - expected) <= std::abs(expected) * 0x1p-10 + 1e-6)) return false;
  }
  return true;
}

/// Bags at both ends, around an element's number, and in between.
std::set<std::int64_t> sampled_bags(std::int64_t batch, std::int64_t dim) {
  std::set<std::int64_t> bags = {0, 1, batch - 2, batch - 1};
  for (std::int64_t i = -2; i <= 2; ++i) {
    for (const std::int64_t element : {two_to_31, 2 * two_to_31}) {
      const std::int64_t bag = element / dim + i;
      if (bag >= 0 && bag < batch) bags.insert(bag);
    }
  }
  for (std::int64_t i = 1; i < 500; ++i) bags.insert(batch / 500 * i);
  return bags;
}

void check_rows(LargeArrays& arrays, const ForwardSpec& spec, const void* table,
                std::int64_t num_rows) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < 4000; ++i) ids.push_back(id_value(i, num_rows));
  ids[0] = num_rows - 1;
  ids[1] = num_rows;  // skipped
  ids[5] = -1;        // skipped
  for (std::int64_t i = 0; i < 4; ++i) {
    ids[8 + i] = two_to_31 / spec.dim - 2 + i;
    ids[12 + i] = std::min(2 * two_to_31 / spec.dim - 2 + i, num_rows - 1);
  }
  const device::Buffer on_device = uploaded(ids);
  const device::Buffer output = arrays.poisoned(1000 * spec.dim);
  ForwardArguments arguments;
  arguments.table = table;
  arguments.num_rows = num_rows;
  arguments.ids = on_device.data();
  arguments.output = output.data();
  arguments.batch = 1000;
  arrays.forward(spec, arguments);
  for (std::int64_t bag = 0; bag < 1000; ++bag) {
    std::vector<std::int64_t> counted;
    for (std::int64_t i = 4 * bag; i < 4 * bag + 4; ++i) {
      if (ids[i] >= 0 && ids[i] < num_rows) counted.push_back(ids[i]);
    }
    INFO(to_text(spec) << " bag " << bag);
    CHECK(is_mean(output.data(), bag, counted, spec.dim));
  }
}

TEST_CASE("a table of more than 2^31 elements, with 64-bit and 32-bit addressing") {
  if (!gpu_is_here()) return;
  LargeArrays arrays;
  constexpr std::int64_t dim = 64;
  constexpr std::int64_t num_rows = 2 * two_to_31 / dim + 5;
  const device::Buffer table = arrays.table(num_rows * dim);
  ForwardSpec spec = spec_of(dim, FixedBags{4}, IntegerType::int64);
  check_rows(arrays, spec, table.data(), num_rows);
  spec.addressing = Addressing::bits32;
  check_rows(arrays, spec, table.data(), num_rows);
}

TEST_CASE("a table of more than 2^31 rows") {
  if (!gpu_is_here()) return;
  LargeArrays arrays;
  constexpr std::int64_t num_rows = two_to_31 + 10;
  const device::Buffer table = arrays.table(num_rows);
  check_rows(arrays, spec_of(1, FixedBags{4}, IntegerType::int64), table.data(), num_rows);
}

TEST_CASE("an output of more than 2^31 elements") {
  if (!gpu_is_here()) return;
  LargeArrays arrays;
  constexpr std::int64_t dim = 128;
  constexpr std::int64_t batch = two_to_31 / dim + 3;
  constexpr std::int64_t num_rows = 1000;
  const device::Buffer table = arrays.table(num_rows * dim);
  const device::Buffer ids = arrays.ids(batch, num_rows);
  const device::Buffer output = arrays.poisoned(batch * dim);
  ForwardArguments arguments;
  arguments.table = table.data();
  arguments.num_rows = num_rows;
  arguments.ids = ids.data();
  arguments.output = output.data();
  arguments.batch = batch;
  arrays.forward(spec_of(dim, FixedBags{1}, IntegerType::int32), arguments);
  for (const std::int64_t bag : sampled_bags(batch, dim)) {
    INFO("bag " << bag);
    CHECK(is_mean(output.data(), bag, {id_value(bag, num_rows)}, dim));
  }
}

TEST_CASE("more than 2^31 ids, in bags of one size and with offsets") {
  if (!gpu_is_here()) return;
  LargeArrays arrays;
  constexpr std::int64_t dim = 2;
  constexpr std::int64_t bag_size = 32;
  constexpr std::int64_t batch = two_to_31 / bag_size + 100;
  constexpr std::int64_t num_ids = batch * bag_size;
  constexpr std::int64_t num_rows = 1000;
  const device::Buffer table = arrays.table(num_rows * dim);
  const device::Buffer ids = arrays.ids(num_ids, num_rows);
  const auto ids_between = [](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = begin; i < end; ++i) values.push_back(id_value(i, num_rows));
    return values;
  };
  ForwardArguments arguments;
  arguments.table = table.data();
  arguments.num_rows = num_rows;
  arguments.ids = ids.data();
  {
    const device::Buffer output = arrays.poisoned(batch * dim);
    arguments.output = output.data();
    arguments.batch = batch;
    arrays.forward(spec_of(dim, FixedBags{bag_size}, IntegerType::int32), arguments);
    for (const std::int64_t bag : sampled_bags(batch, bag_size)) {
      INFO("bag " << bag);
      CHECK(is_mean(output.data(), bag, ids_between(bag * bag_size, (bag + 1) * bag_size), dim));
    }
  }
  std::vector<std::int64_t> offsets;
  for (std::int64_t bag = 0; bag <= 1000; ++bag) offsets.push_back(two_to_31 - 1000 + 4 * bag);
  const device::Buffer on_device = uploaded(offsets);
  const device::Buffer output = arrays.poisoned(1000 * dim);
  arguments.num_ids = num_ids;
  arguments.offsets = on_device.data();
  arguments.output = output.data();
  arguments.batch = 1000;
  arrays.forward(spec_of(dim, CsrBags{}, IntegerType::int32), arguments);
  for (std::int64_t bag = 0; bag < 1000; ++bag) {
    INFO("CSR bag " << bag);
    CHECK(is_mean(output.data(), bag, ids_between(offsets[bag], offsets[bag + 1]), dim));
  }
}

/// Downloads a vector of an output of float16.
std::vector<double> vector_at(const void* output, std::int64_t row, std::int64_t dim) {
  const auto* first = static_cast<const std::uint16_t*>(output) + row * dim;
  std::vector<double> values;
  for (const std::uint16_t bits : downloaded<std::uint16_t>(first, static_cast<std::size_t>(dim))) {
    values.push_back(static_cast<double>(host::float_from_float16(bits)));
  }
  return values;
}

TEST_CASE("an int8 table of more than 2^31 elements, with a scale for each row") {
  if (!gpu_is_here()) return;
  LargeArrays arrays;
  constexpr std::int64_t dim = 64;
  constexpr std::int64_t num_rows = 2 * two_to_31 / dim + 5;
  const device::Buffer table = arrays.codes(num_rows * dim);
  const device::Buffer scales = arrays.scales(num_rows);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < 1000; ++i) ids.push_back(id_value(i, num_rows));
  ids[0] = num_rows - 1;
  for (std::int64_t i = 0; i < 4; ++i) ids[1 + i] = two_to_31 / dim - 2 + i;
  const device::Buffer on_device = uploaded(ids);
  ForwardSpec spec = spec_of(dim, FixedBags{1}, IntegerType::int64);
  spec.table_type = DataType::int8;
  spec.pooling = Pooling::sum;
  for (const auto addressing : {Addressing::bits64, Addressing::bits32}) {
    spec.addressing = addressing;
    const device::Buffer output = arrays.poisoned(1000 * dim);
    ForwardArguments arguments;
    arguments.table = table.data();
    arguments.scales = scales.data();
    arguments.num_rows = num_rows;
    arguments.ids = on_device.data();
    arguments.output = output.data();
    arguments.batch = 1000;
    arrays.forward(spec, arguments);
    for (std::int64_t bag = 0; bag < 1000; ++bag) {
      INFO(to_text(spec) << " bag " << bag);
      std::vector<double> expected;
      for (std::int64_t column = 0; column < dim; ++column) {
        // Exact: a code has 8 bits and a scale 3.
        expected.push_back(scale_value(ids[bag]) * code_value(ids[bag] * dim + column));
      }
      CHECK(vector_at(output.data(), bag, dim) == expected);
    }
  }
}

TEST_CASE("more than 2^31 ids with weights") {
  if (!gpu_is_here()) return;
  LargeArrays arrays;
  constexpr std::int64_t dim = 2;
  constexpr std::int64_t bag_size = 32;
  constexpr std::int64_t batch = two_to_31 / bag_size + 100;
  constexpr std::int64_t num_rows = 1000;
  const device::Buffer table = arrays.table(num_rows * dim);
  const device::Buffer ids = arrays.ids(batch * bag_size, num_rows);
  const device::Buffer weights = arrays.weights(batch * bag_size);
  const device::Buffer output = arrays.poisoned(batch * dim, 4);
  ForwardSpec spec = spec_of(dim, FixedBags{bag_size}, IntegerType::int32);
  spec.pooling = Pooling::sum;
  spec.weight_type = DataType::float16;
  spec.output_type = DataType::float32;
  ForwardArguments arguments;
  arguments.table = table.data();
  arguments.num_rows = num_rows;
  arguments.ids = ids.data();
  arguments.weights = weights.data();
  arguments.output = output.data();
  arguments.batch = batch;
  arrays.forward(spec, arguments);
  for (const std::int64_t bag : sampled_bags(batch, bag_size)) {
    const auto* first = static_cast<const float*>(output.data()) + bag * dim;
    const auto pooled = downloaded<float>(first, dim);
    for (std::int64_t column = 0; column < dim; ++column) {
      double expected = 0;
      for (std::int64_t i = bag * bag_size; i < (bag + 1) * bag_size; ++i) {
        expected += weight_value(i) * table_value(id_value(i, num_rows) * dim + column);
      }
      INFO("bag " << bag << " column " << column);
      // Exact: multiples of a quarter below 2^22.
      CHECK(static_cast<double>(pooled[static_cast<std::size_t>(column)]) == expected);
    }
  }
}

TEST_CASE("maxima and their winners, more than 2^31 of each") {
  if (!gpu_is_here()) return;
  LargeArrays arrays;
  constexpr std::int64_t dim = 128;
  constexpr std::int64_t bag_size = 2;
  constexpr std::int64_t batch = two_to_31 / dim + 3;
  constexpr std::int64_t num_rows = 1000;
  const device::Buffer table = arrays.table(num_rows * dim);
  const device::Buffer ids = arrays.ids(batch * bag_size, num_rows);
  const device::Buffer output = arrays.poisoned(batch * dim);
  const device::Buffer winners = arrays.poisoned(batch * dim, 4);
  ForwardSpec spec = spec_of(dim, FixedBags{bag_size}, IntegerType::int32);
  spec.pooling = Pooling::max;
  spec.winners = true;
  ForwardArguments arguments;
  arguments.table = table.data();
  arguments.num_rows = num_rows;
  arguments.ids = ids.data();
  arguments.output = output.data();
  arguments.winners = winners.data();
  arguments.batch = batch;
  arrays.forward(spec, arguments);
  for (const std::int64_t bag : sampled_bags(batch, dim)) {
    INFO("bag " << bag);
    const std::int64_t first = id_value(bag * bag_size, num_rows);
    const std::int64_t second = id_value(bag * bag_size + 1, num_rows);
    std::vector<double> largest;
    std::vector<std::int32_t> won;
    for (std::int64_t column = 0; column < dim; ++column) {
      const double a = table_value(first * dim + column);
      const double b = table_value(second * dim + column);
      largest.push_back(std::max(a, b));
      won.push_back(static_cast<std::int32_t>(b > a ? second : first));
    }
    CHECK(vector_at(output.data(), bag, dim) == largest);
    CHECK(downloaded<std::int32_t>(static_cast<const std::int32_t*>(winners.data()) + bag * dim,
                                   dim) == won);
  }
}

TEST_CASE("without pooling, an output of more than 2^31 elements") {
  if (!gpu_is_here()) return;
  LargeArrays arrays;
  constexpr std::int64_t dim = 128;
  constexpr std::int64_t num_ids = two_to_31 / dim + 30;
  constexpr std::int64_t num_rows = 1000;
  const device::Buffer table = arrays.table(num_rows * dim);
  const device::Buffer ids = arrays.ids(num_ids, num_rows);
  const std::vector<std::int64_t> bounds{10, num_ids / 3, num_ids - 10};
  const device::Buffer offsets = uploaded(bounds);
  const device::Buffer output = arrays.poisoned(num_ids * dim);
  ForwardSpec spec = spec_of(dim, CsrBags{}, IntegerType::int32);
  spec.pooling = Pooling::none;
  ForwardArguments arguments;
  arguments.table = table.data();
  arguments.num_rows = num_rows;
  arguments.ids = ids.data();
  arguments.num_ids = num_ids;
  arguments.offsets = offsets.data();
  arguments.output = output.data();
  arguments.batch = 2;
  arrays.forward(spec, arguments);
  for (const std::int64_t position : sampled_bags(num_ids, dim)) {
    INFO("position " << position);
    const auto row = vector_at(output.data(), position, dim);
    std::vector<double> expected;
    for (std::int64_t column = 0; column < dim; ++column) {
      expected.push_back(table_value(id_value(position, num_rows) * dim + column));
    }
    const bool is_outside = position < bounds.front() || position >= bounds.back();
    CHECK((is_outside ? std::isnan(row.front()) : row == expected));
  }
}

}  // namespace
}  // namespace jitbag::test
