// Gradients that 32 bits cannot address, up to about 26 GB of arrays at a time. Few ids count, so
// that it is fast, and what they give is known number by number: integers, whose sums are exact in
// any order. All that is not written by a test holds NaNs, which nothing must read.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "jitbag/host.hpp"
#include "support/elements.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

constexpr std::int64_t two_to_31 = std::int64_t{1} << 31;

/// Element i of every output's gradient here, from -8 to 8; any float type holds it.
float gradient_value(std::int64_t index) {
  const auto mixed = static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15u >> 40;
  return static_cast<float>(mixed % 17) - 8;
}

/// A GPU with an Engine, and large arrays of which a few elements are set and looked at.
class LargeGradients {
 public:
  LargeGradients() : context_(0), engine_({.cache = suite_cache()}) {}

  /// 0xff: NaNs, and ids that are no row's.
  device::Buffer filled(std::int64_t bytes, std::uint8_t byte) {
    device::Buffer buffer(static_cast<std::size_t>(bytes));
    device::fill_bytes(buffer.data(), byte, buffer.size(), stream_.get());
    stream_.synchronize();
    return buffer;
  }

  void backward(const BackwardSpec& spec, BackwardMethod method, BackwardArguments arguments) {
    const BackwardKernel& kernel =
        engine_.backward(spec, {.strategy = default_strategy(spec, method, gpu_target())});
    arguments.workspace_bytes = kernel.workspace_bytes(arguments);
    const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
    arguments.workspace = workspace.data();
    kernel.launch(arguments, stream_.get());
    stream_.synchronize();
  }

 private:
  device::Context context_;
  Engine engine_;
  device::OwnedStream stream_;
};

template <class T>
void put(const device::Buffer& buffer, std::int64_t index, const std::vector<T>& values) {
  device::copy_to_device(static_cast<T*>(buffer.data()) + index, values.data(),
                         values.size() * sizeof(T));
}

template <class T>
std::vector<T> taken(const device::Buffer& buffer, std::int64_t index, std::int64_t count) {
  return downloaded<T>(static_cast<const T*>(buffer.data()) + index,
                       static_cast<std::size_t>(count));
}

std::vector<float> gradient_of_output(std::int64_t row, std::int64_t dim) {
  std::vector<float> values;
  for (std::int64_t c = 0; c < dim; ++c) values.push_back(gradient_value(row * dim + c));
  return values;
}

BackwardSpec sum_of(std::int64_t dim, const BagLayout& bags, const TableGradient& gradient) {
  BackwardSpec spec;
  spec.forward.dim = dim;
  spec.forward.bags = bags;
  spec.forward.pooling = Pooling::sum;
  spec.table_gradient = gradient;
  return spec;
}

/// Numbers of rows at both ends of a table, around its elements 2^31 and 2^32, and in between.
std::vector<std::int64_t> sampled_rows(std::int64_t num_rows, std::int64_t dim) {
  std::vector<std::int64_t> rows = {0, num_rows - 1};
  for (std::int64_t i = -2; i <= 2; ++i) {
    for (const std::int64_t element : {two_to_31, 2 * two_to_31}) {
      rows.push_back(std::clamp<std::int64_t>(element / dim + i, 0, num_rows - 1));
    }
  }
  while (rows.size() < 400) rows.push_back((rows.back() * 7 + 12345) % num_rows);
  return rows;
}

/// Bags of two of those rows each, and what they add up to.
struct SampledBags {
  SampledBags(std::int64_t rows, std::int64_t columns)
      : num_rows(rows), dim(columns), ids(sampled_rows(rows, columns)) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto bag = static_cast<std::int64_t>(i) / 2;
      std::vector<float>& sum = sums[ids[i]];
      sum.resize(static_cast<std::size_t>(dim));
      for (std::int64_t c = 0; c < dim; ++c) {
        sum[static_cast<std::size_t>(c)] += gradient_value(bag * dim + c);
      }
    }
    for (std::int64_t bag = 0; bag < batch(); ++bag) {
      const std::vector<float> of_bag = gradient_of_output(bag, dim);
      output_gradient.insert(output_gradient.end(), of_bag.begin(), of_bag.end());
    }
    on_device = uploaded(ids);
    gradient_on_device = uploaded(output_gradient);
  }

  [[nodiscard]] std::int64_t batch() const { return static_cast<std::int64_t>(ids.size()) / 2; }

  [[nodiscard]] BackwardArguments arguments() const {
    BackwardArguments arguments;
    arguments.forward = {.num_rows = num_rows, .ids = on_device.data(), .batch = batch()};
    arguments.output_gradient = gradient_on_device.data();
    return arguments;
  }

  std::int64_t num_rows, dim;
  std::vector<std::int64_t> ids;
  std::vector<float> output_gradient;
  std::map<std::int64_t, std::vector<float>> sums;
  device::Buffer on_device, gradient_on_device;
};

TEST_CASE("a dense gradient of more than 2^32 elements, added to and cleared") {
  if (!gpu_is_here()) return;
  LargeGradients gpu;
  constexpr std::int64_t dim = 64;
  const SampledBags bags(2 * two_to_31 / dim + 5, dim);
  const device::Buffer gradient = gpu.filled(bags.num_rows * dim * 4, 0);
  BackwardArguments arguments = bags.arguments();
  arguments.table_gradient = gradient.data();
  const auto check = [&](bool is_cleared) {
    for (const auto& [row, sum] : bags.sums) {
      INFO("row " << row);
      const bool same = taken<float>(gradient, row * dim, dim) ==
                        (is_cleared ? std::vector<float>(dim, 0.0f) : sum);
      CHECK(same);
    }
  };
  for (const auto method : {BackwardMethod::scatter, BackwardMethod::merge, BackwardMethod::sort}) {
    for (const auto addressing : {Addressing::bits64, Addressing::bits32}) {
      BackwardSpec spec = sum_of(dim, FixedBags{2}, DenseGradient{});
      spec.forward.addressing = addressing;
      INFO(to_text(default_strategy(spec, method, gpu_target())) << " for " << to_text(spec));
      gpu.backward(spec, method, arguments);
      check(false);
      spec.table_gradient = ClearedGradient{};
      gpu.backward(spec, BackwardMethod::scatter, arguments);
      check(true);
    }
  }
}

TEST_CASE("a table and moments of more than 2^32 elements are stepped") {
  if (!gpu_is_here()) return;
  LargeGradients gpu;
  constexpr std::int64_t dim = 64;
  const SampledBags bags(2 * two_to_31 / dim + 5, dim);
  const device::Buffer table = gpu.filled(bags.num_rows * dim * 2, 0);
  const device::Buffer moments = gpu.filled(bags.num_rows * dim * 4, 0);
  const device::Buffer parameters = uploaded(std::vector{OptimizerParameters{.learning_rate = 1}});
  BackwardSpec spec = sum_of(dim, FixedBags{2}, AppliedGradient{Optimizer::momentum});
  spec.forward.table_type = DataType::float16;
  BackwardArguments arguments = bags.arguments();
  arguments.updated_table = table.data();
  arguments.first_moment = static_cast<float*>(moments.data());
  arguments.parameters = static_cast<const OptimizerParameters*>(parameters.data());
  gpu.backward(spec, BackwardMethod::sort, arguments);
  for (const auto& [row, sum] : bags.sums) {
    INFO("row " << row);
    CHECK((taken<float>(moments, row * dim, dim) == sum));
    std::vector<float> stepped;
    for (const std::uint16_t bits : taken<std::uint16_t>(table, row * dim, dim)) {
      stepped.push_back(-host::float_from_float16(bits));
    }
    CHECK((stepped == sum));
  }
}

TEST_CASE("a gradient of more than 2^31 rows, dense and sparse") {
  if (!gpu_is_here()) return;
  LargeGradients gpu;
  const SampledBags bags(two_to_31 + 10, 1);
  BackwardArguments arguments = bags.arguments();
  for (const auto method : {BackwardMethod::scatter, BackwardMethod::merge, BackwardMethod::sort}) {
    const device::Buffer gradient = gpu.filled(bags.num_rows * 4, 0);
    arguments.table_gradient = gradient.data();
    gpu.backward(sum_of(1, FixedBags{2}, DenseGradient{}), method, arguments);
    for (const auto& [row, sum] : bags.sums) {
      INFO("row " << row);
      CHECK((taken<float>(gradient, row, 1) == sum));
    }
  }
  const auto capacity = static_cast<std::int64_t>(bags.ids.size());
  const device::Buffer gradient = gpu.filled(capacity * 4, 0xff);
  const device::Buffer rows = gpu.filled(capacity * 8, 0xff);
  const device::Buffer count = gpu.filled(sizeof(SparseCount), 0xff);
  arguments.table_gradient = gradient.data();
  arguments.rows = rows.data();
  arguments.capacity = capacity;
  arguments.count = static_cast<SparseCount*>(count.data());
  gpu.backward(sum_of(1, FixedBags{2}, SparseGradient{}), BackwardMethod::sort, arguments);
  const auto found = static_cast<std::int64_t>(bags.sums.size());
  REQUIRE(taken<SparseCount>(count, 0, 1).front().rows == found);
  std::vector<std::int64_t> expected_rows;
  std::vector<float> expected;
  for (const auto& [row, sum] : bags.sums) {
    expected_rows.push_back(row);
    expected.push_back(sum.front());
  }
  CHECK((taken<std::int64_t>(rows, 0, found) == expected_rows));
  CHECK((taken<float>(gradient, 0, found) == expected));
}

TEST_CASE("a sparse gradient of more than 2^31 elements, in very wide rows") {
  if (!gpu_is_here()) return;
  LargeGradients gpu;
  constexpr std::int64_t dim = 1 << 20, bag_size = 2100, num_rows = 5000;
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < bag_size; ++i) ids.push_back(2 * (bag_size - i));
  const std::vector<float> of_bag = gradient_of_output(0, dim);
  const device::Buffer on_device = uploaded(ids);
  const device::Buffer output_gradient = uploaded(of_bag);
  const device::Buffer gradient = gpu.filled(bag_size * dim * 2, 0xff);
  const device::Buffer rows = gpu.filled(bag_size * 8, 0xff);
  const device::Buffer count = gpu.filled(sizeof(SparseCount), 0xff);
  BackwardArguments arguments;
  arguments.forward = {.num_rows = num_rows, .ids = on_device.data(), .batch = 1};
  arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = gradient.data();
  arguments.rows = rows.data();
  arguments.capacity = bag_size;
  arguments.count = static_cast<SparseCount*>(count.data());
  gpu.backward(sum_of(dim, FixedBags{bag_size}, SparseGradient{DataType::float16}),
               BackwardMethod::sort, arguments);
  CHECK(taken<SparseCount>(count, 0, 1).front().rows == bag_size);
  for (const std::int64_t place : {0L, 1L, 1024L, 2046L, 2047L, 2048L, 2049L, bag_size - 1}) {
    INFO("place " << place);
    CHECK(taken<std::int64_t>(rows, place, 1).front() == 2 * (place + 1));
    std::vector<float> written;
    for (const std::uint16_t bits : taken<std::uint16_t>(gradient, place * dim, dim)) {
      written.push_back(host::float_from_float16(bits));
    }
    CHECK((written == of_bag));
  }
}

TEST_CASE("maxima of more than 2^31 outputs pass their gradients on (pytorch#188467, PR#188661)") {
  if (!gpu_is_here()) return;
  LargeGradients gpu;
  constexpr std::int64_t dim = 128, num_rows = 1000, batch = two_to_31 / dim + 3;
  const device::Buffer ids = gpu.filled(batch * 4, 0xff);
  const device::Buffer winners = gpu.filled(batch * dim * 4, 0xff);
  const device::Buffer output_gradient = gpu.filled(batch * dim * 2, 0xff);
  std::vector<float> expected(num_rows * dim);
  for (const std::int64_t bag : {std::int64_t{0}, std::int64_t{1}, batch / 2, batch - 5, batch - 4,
                                 batch - 3, batch - 2, batch - 1}) {
    const auto id = static_cast<std::int32_t>(bag % num_rows);
    put<std::int32_t>(ids, bag, {id});
    put(winners, bag * dim, std::vector<std::int32_t>(dim, id));
    const std::vector<float> of_bag = gradient_of_output(bag, dim);
    std::vector<std::uint16_t> halves;
    for (std::size_t c = 0; c < dim; ++c) {
      halves.push_back(host::float16_from(of_bag[c]));
      expected[static_cast<std::size_t>(id) * dim + c] += of_bag[c];
    }
    put(output_gradient, bag * dim, halves);
  }
  BackwardSpec spec = sum_of(dim, FixedBags{1}, DenseGradient{});
  spec.forward.pooling = Pooling::max;
  spec.forward.winners = true;
  spec.forward.output_type = DataType::float16;
  spec.forward.id_type = IntegerType::int32;
  for (const auto method : {BackwardMethod::scatter, BackwardMethod::sort}) {
    const device::Buffer gradient = gpu.filled(num_rows * dim * 4, 0);
    BackwardArguments arguments;
    arguments.forward = {
        .num_rows = num_rows, .ids = ids.data(), .batch = batch, .winners = winners.data()};
    arguments.output_gradient = output_gradient.data();
    arguments.table_gradient = gradient.data();
    gpu.backward(spec, method, arguments);
    CHECK((taken<float>(gradient, 0, num_rows * dim) == expected));
  }
}

/// More than 2^31 ids, of which a few name a row: one of the ten after its position's.
class ManyIds {
 public:
  static constexpr std::int64_t dim = 2, bag_size = 32, num_rows = 1000;
  static constexpr std::int64_t batch = two_to_31 / bag_size + 100, num_ids = batch * bag_size;

  explicit ManyIds(LargeGradients& gpu)
      : ids_(gpu.filled(num_ids * 4, 0xff)),
        weights_(gpu.filled(num_ids * 2, 0xff)),
        table_(gpu.filled(num_rows * dim * 4, 0)) {
    std::vector<float> table;
    for (std::int64_t i = 0; i < num_rows * dim; ++i) table.push_back(element(i));
    put(table_, 0, table);
    for (const std::int64_t position : positions()) {
      put<std::int32_t>(ids_, position, {static_cast<std::int32_t>(row_at(position))});
      put<std::uint16_t>(weights_, position, {host::float16_from(weight_at(position))});
    }
  }

  static std::vector<std::int64_t> positions() {
    std::vector<std::int64_t> some = {0, 33, num_ids / 2, num_ids - 40, num_ids - 1};
    for (std::int64_t i = -70; i < 70; i += 7) some.push_back(two_to_31 + i);
    return some;
  }
  static std::int64_t row_at(std::int64_t position) { return position % 10; }
  static float weight_at(std::int64_t position) { return static_cast<float>(position % 5 + 1); }
  static float element(std::int64_t index) { return static_cast<float>(index % 7); }

  [[nodiscard]] ForwardArguments arguments() const {
    return {.table = table_.data(),
            .num_rows = num_rows,
            .ids = ids_.data(),
            .num_ids = num_ids,
            .batch = batch,
            .weights = weights_.data()};
  }

 private:
  device::Buffer ids_, weights_, table_;
};

/// Runs a sum of those ids, by addition, with the gradient of its weights, and compares all with
/// what a bag of each position gives.
template <class BagOf>
void check_many_ids(LargeGradients& gpu, const BagLayout& bags, const ForwardArguments& forward,
                    BagOf bag_of) {
  constexpr std::int64_t dim = ManyIds::dim;
  BackwardSpec spec = sum_of(dim, bags, DenseGradient{});
  spec.forward.id_type = IntegerType::int32;
  spec.forward.weight_type = DataType::float16;
  spec.weight_gradient_type = DataType::float16;
  const device::Buffer output_gradient = gpu.filled(forward.batch * dim * 4, 0xff);
  const device::Buffer gradient = gpu.filled(ManyIds::num_rows * dim * 4, 0);
  const device::Buffer weight_gradient = gpu.filled(ManyIds::num_ids * 2, 0xff);
  std::vector<float> expected(ManyIds::num_rows * dim);
  for (const std::int64_t position : ManyIds::positions()) {
    const std::int64_t bag = bag_of(position);
    if (bag < 0) continue;
    const std::vector<float> of_bag = gradient_of_output(bag, dim);
    put(output_gradient, bag * dim, of_bag);
    for (std::int64_t c = 0; c < dim; ++c) {
      expected[static_cast<std::size_t>(ManyIds::row_at(position) * dim + c)] +=
          ManyIds::weight_at(position) * of_bag[static_cast<std::size_t>(c)];
    }
  }
  BackwardArguments arguments;
  arguments.forward = forward;
  arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = gradient.data();
  arguments.weight_gradient = weight_gradient.data();
  gpu.backward(spec, BackwardMethod::scatter, arguments);
  CHECK((taken<float>(gradient, 0, ManyIds::num_rows * dim) == expected));
  for (const std::int64_t position : ManyIds::positions()) {
    const std::int64_t bag = bag_of(position);
    if (bag < 0) continue;
    INFO("position " << position);
    const std::vector<float> of_bag = gradient_of_output(bag, dim);
    const std::int64_t row = ManyIds::row_at(position);
    const float product =
        of_bag[0] * ManyIds::element(row * dim) + of_bag[1] * ManyIds::element(row * dim + 1);
    CHECK(host::float_from_float16(taken<std::uint16_t>(weight_gradient, position, 1).front()) ==
          product);
    if (bag_of(position - 1) < 0) continue;
    CHECK(taken<std::uint16_t>(weight_gradient, position - 1, 1).front() == 0);  // of no row's id
  }
}

TEST_CASE(
    "more than 2^31 ids, in bags of one size and with offsets, give rows and weights theirs") {
  if (!gpu_is_here()) return;
  LargeGradients gpu;
  const ManyIds ids(gpu);
  ForwardArguments forward = ids.arguments();
  check_many_ids(gpu, FixedBags{ManyIds::bag_size}, forward, [](std::int64_t position) {
    return position < 0 ? -1 : position / ManyIds::bag_size;
  });
  constexpr std::int64_t first = two_to_31 - 1000, batch = 500, length = 4;
  std::vector<std::int64_t> offsets;
  for (std::int64_t bag = 0; bag <= batch; ++bag) offsets.push_back(first + length * bag);
  const device::Buffer on_device = uploaded(offsets);
  forward.offsets = on_device.data();
  forward.batch = batch;
  check_many_ids(gpu, CsrBags{}, forward, [](std::int64_t position) {
    const bool is_inside = position >= first && position < first + length * batch;
    return is_inside ? (position - first) / length : -1;
  });
}

}  // namespace
}  // namespace jitbag::test
