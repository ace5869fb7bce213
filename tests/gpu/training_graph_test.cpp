// Whole training steps in CUDA graphs: captured once, and replayed with other bags, in other
// numbers, which the host writes to the same memory; it reads nothing of what a step finds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "jitbag/host.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

constexpr std::int64_t dim = 36, num_rows = 500, most_bags = 3000, most_ids = 9000;

/// Bags, of which the first ones count. The others would be seen in every result.
struct Bags {
  explicit Bags(std::mt19937_64& random, std::int64_t bags) {
    for (std::int64_t& id : ids) {
      id = random() % 4 == 0 ? 7 : static_cast<std::int64_t>(random() % num_rows);
    }
    for (std::size_t bag = 0; bag < most_bags; ++bag) {
      offsets[bag + 1] = std::min(most_ids, offsets[bag] + static_cast<std::int64_t>(random() % 6));
    }
    counts = {bags, offsets[static_cast<std::size_t>(bags)]};
  }

  std::vector<std::int64_t> ids = std::vector<std::int64_t>(most_ids);
  std::vector<std::int64_t> offsets = std::vector<std::int64_t>(most_bags + 1);
  std::vector<std::int64_t> counts;
};

/// As many as there is room for, none, one, and then any number.
std::int64_t bags_of_replay(int replay, std::mt19937_64& random) {
  const std::array<std::int64_t, 3> first = {most_bags, 0, 1};
  if (static_cast<std::size_t>(replay) < first.size()) {
    return first[static_cast<std::size_t>(replay)];
  }
  return static_cast<std::int64_t>(random() % (most_bags + 1));
}

class BagsOnDevice {
 public:
  void set(const Bags& bags) {
    device::copy_to_device(ids_.data(), bags.ids.data(), ids_.size());
    device::copy_to_device(offsets_.data(), bags.offsets.data(), offsets_.size());
    device::copy_to_device(counts_.data(), bags.counts.data(), counts_.size());
  }

  [[nodiscard]] ForwardArguments arguments(const void* table, void* output) const {
    return {.table = table,
            .num_rows = num_rows,
            .ids = ids_.data(),
            .num_ids = most_ids,
            .offsets = offsets_.data(),
            .output = output,
            .batch = most_bags,
            .counts = static_cast<const std::int64_t*>(counts_.data())};
  }

 private:
  device::Buffer ids_{most_ids * 8};
  device::Buffer offsets_{(most_bags + 1) * 8};
  device::Buffer counts_{2 * 8};
};

/// What a step changes.
struct Model {
  explicit Model(std::mt19937_64& random) {
    for (float& one : table) one = static_cast<float>(random() % 64) / 16 - 2;
  }

  std::vector<float> table = std::vector<float>(num_rows * dim);
  std::vector<float> first_moment = std::vector<float>(num_rows * dim);
  // Over 0, or Adam's first step would be a matter of how a gradient of nearly 0 was rounded.
  std::vector<float> second_moment = std::vector<float>(num_rows * dim, 0.5f);
  OptimizerParameters parameters;
};

class ModelOnDevice {
 public:
  explicit ModelOnDevice(const Model& model)
      : table_(uploaded(model.table)),
        first_moment_(uploaded(model.first_moment)),
        second_moment_(uploaded(model.second_moment)),
        parameters_(uploaded(std::vector{model.parameters})) {}

  [[nodiscard]] float* table() const { return static_cast<float*>(table_.data()); }

  void set(BackwardArguments& arguments) const {
    arguments.updated_table = table_.data();
    arguments.first_moment = static_cast<float*>(first_moment_.data());
    arguments.second_moment = static_cast<float*>(second_moment_.data());
    arguments.parameters = static_cast<const OptimizerParameters*>(parameters_.data());
  }

  [[nodiscard]] std::byte* step_number() const {
    return static_cast<std::byte*>(parameters_.data()) + offsetof(OptimizerParameters, step);
  }

  void get(Model& model) const {
    device::copy_to_host(model.table.data(), table_.data(), table_.size());
    device::copy_to_host(model.first_moment.data(), first_moment_.data(), first_moment_.size());
    device::copy_to_host(model.second_moment.data(), second_moment_.data(), second_moment_.size());
    device::copy_to_host(&model.parameters, parameters_.data(), parameters_.size());
  }

 private:
  device::Buffer table_, first_moment_, second_moment_, parameters_;
};

/// The largest distance between two elements, relative to those over 1.
double farthest(const std::vector<float>& actual, const std::vector<float>& expected) {
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double wanted{expected[i]};
    const double distance = std::abs(double{actual[i]} - wanted) / (1 + std::abs(wanted));
    most = distance <= most ? most : distance;
    if (std::isnan(distance)) return std::numeric_limits<double>::infinity();
  }
  return most;
}

BackwardSpec spec_of(const TableGradient& gradient) {
  BackwardSpec spec;
  spec.forward.dim = dim;
  spec.forward.bags = CsrBags{};
  spec.forward.padding_id = 0;
  spec.forward.counts = Counts::on_device;
  spec.table_gradient = gradient;
  return spec;
}

/// Forward and backward on the host. Of half the sum of the output's squares the output is the
/// gradient.
void step_on_host(const BackwardSpec& spec, const Bags& bags, const float* table,
                  BackwardArguments arguments) {
  std::vector<float> output(most_bags * dim);
  arguments.forward = {.table = table,
                       .num_rows = num_rows,
                       .ids = bags.ids.data(),
                       .num_ids = most_ids,
                       .offsets = bags.offsets.data(),
                       .output = output.data(),
                       .batch = most_bags,
                       .counts = bags.counts.data()};
  arguments.output_gradient = output.data();
  host::forward(spec.forward, arguments.forward);
  host::backward(spec, arguments);
}

/// Adam's number of the step, which no host counts.
KernelTemplate count_step() {
  return {.name = "count_step.cu",
          .text = R"(
extern "C" __global__ void count_step(long long* step) { *step += 1; }
)",
          .entry = "count_step"};
}

TEST_CASE("50 replays of a captured forward, backward and step are 50 steps, of any bags or none") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const auto optimizer = GENERATE(Optimizer::row_wise_adagrad, Optimizer::adam);
  const BackwardSpec spec = spec_of(AppliedGradient{optimizer});
  const ForwardKernel& forward = engine.forward(spec.forward);
  const BackwardKernel& backward = engine.backward(spec);
  const Kernel& counter = engine.kernel(count_step());

  std::mt19937_64 random(seed());
  Model model(random);
  const ModelOnDevice on_device(model);
  BagsOnDevice bags_on_device;
  const device::Buffer output(most_bags * dim * sizeof(float));
  BackwardArguments arguments;
  arguments.forward = bags_on_device.arguments(on_device.table(), output.data());
  arguments.output_gradient = output.data();
  on_device.set(arguments);
  arguments.workspace_bytes = backward.workspace_bytes(arguments);
  const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
  arguments.workspace = workspace.data();
  std::byte* step_number = on_device.step_number();
  const device::Graph step(stream.get(), [&] {
    forward.launch(arguments.forward, stream.get());
    backward.launch(arguments, stream.get());
    counter.launch({}, std::array<void*, 1>{&step_number}, stream.get());
  });

  for (int replay = 0; replay < 50; ++replay) {
    INFO("JITBAG_TEST_SEED=" << seed() << ", " << name(optimizer) << ", replay " << replay);
    const Bags bags(random, bags_of_replay(replay, random));
    bags_on_device.set(bags);
    step.launch(stream.get());

    // From where the device was before.
    BackwardArguments on_host;
    on_host.updated_table = model.table.data();
    on_host.first_moment = model.first_moment.data();
    on_host.second_moment = model.second_moment.data();
    on_host.parameters = &model.parameters;
    step_on_host(spec, bags, model.table.data(), on_host);
    const Model expected = model;
    stream.synchronize();
    on_device.get(model);
    CHECK(farthest(model.table, expected.table) < 1e-5);
    CHECK(farthest(model.first_moment, expected.first_moment) < 1e-5);
    CHECK(farthest(model.second_moment, expected.second_moment) < 1e-5);
    CHECK(model.parameters.step == replay + 2);
  }
}

/// A caller's own step, of so many rows as the device has counted.
KernelTemplate descend() {
  return {.name = "descend.cu",
          .text = R"(
extern "C" __global__ void descend(float* table, const float* gradient, const long long* rows,
                                   const long long* count) {
  for (long long k = blockIdx.x; k < count[0]; k += gridDim.x) {
    for (int c = threadIdx.x; c < dim; c += blockDim.x) {
      table[rows[k] * dim + c] -= 0.01f * gradient[k * dim + c];
    }
  }
}
)",
          .entry = "descend",
          .constants = {{"int", "dim", std::to_string(dim)}}};
}

TEST_CASE("a captured step of one's own takes the rows that a sparse gradient has counted") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  constexpr std::int64_t capacity = 400;  // too few for the rows of the largest batches
  const BackwardSpec spec = spec_of(SparseGradient{});
  const ForwardKernel& forward = engine.forward(spec.forward);
  const BackwardKernel& backward = engine.backward(spec);
  const Kernel& descent = engine.kernel(descend());

  std::mt19937_64 random(seed());
  std::vector<float> table = Model(random).table;
  const device::Buffer table_on_device = uploaded(table);
  BagsOnDevice bags_on_device;
  const device::Buffer output(most_bags * dim * sizeof(float));
  const device::Buffer gradient(capacity * dim * sizeof(float));
  const device::Buffer rows(capacity * sizeof(std::int64_t));
  const device::Buffer count(sizeof(SparseCount));
  BackwardArguments arguments;
  arguments.forward = bags_on_device.arguments(table_on_device.data(), output.data());
  arguments.output_gradient = output.data();
  arguments.table_gradient = gradient.data();
  arguments.rows = rows.data();
  arguments.capacity = capacity;
  arguments.count = static_cast<SparseCount*>(count.data());
  arguments.workspace_bytes = backward.workspace_bytes(arguments);
  const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
  arguments.workspace = workspace.data();
  std::array<void*, 4> addresses = {table_on_device.data(), gradient.data(), rows.data(),
                                    count.data()};
  const std::array<void*, 4> parameters = {&addresses[0], &addresses[1], &addresses[2],
                                           &addresses[3]};
  const device::Graph step(stream.get(), [&] {
    forward.launch(arguments.forward, stream.get());
    backward.launch(arguments, stream.get());
    descent.launch({.blocks_x = 64, .threads_x = 64}, parameters, stream.get());
  });

  bool was_short = false, had_room = false;
  for (int replay = 0; replay < 20; ++replay) {
    INFO("JITBAG_TEST_SEED=" << seed() << ", replay " << replay);
    const Bags bags(random, bags_of_replay(replay, random));
    bags_on_device.set(bags);
    step.launch(stream.get());

    std::vector<float> expected(capacity * dim);
    std::vector<std::int64_t> expected_rows(capacity);
    SparseCount expected_count;
    BackwardArguments on_host;
    on_host.table_gradient = expected.data();
    on_host.rows = expected_rows.data();
    on_host.capacity = capacity;
    on_host.count = &expected_count;
    step_on_host(spec, bags, table.data(), on_host);
    const auto found = static_cast<std::size_t>(expected_count.rows);
    expected_rows.resize(found);
    expected.resize(found * dim);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto row = static_cast<std::size_t>(expected_rows[i / dim]);
      table[row * dim + i % dim] -= 0.01f * expected[i];
    }
    stream.synchronize();
    const auto written = downloaded<SparseCount>(count.data(), 1).front();
    CHECK(written.rows == expected_count.rows);
    CHECK(written.missing == expected_count.missing);
    CHECK((downloaded<std::int64_t>(rows.data(), found) == expected_rows));
    CHECK(farthest(downloaded<float>(gradient.data(), found * dim), expected) < 1e-5);
    const auto stepped = downloaded<float>(table_on_device.data(), table.size());
    CHECK(farthest(stepped, table) < 1e-5);
    table = stepped;
    (expected_count.missing > 0 ? was_short : had_room) = true;
  }
  CHECK(was_short);
  CHECK(had_room);
}

}  // namespace
}  // namespace jitbag::test
