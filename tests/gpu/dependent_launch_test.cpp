#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

constexpr int rows = 512;
constexpr int dim = 64;
constexpr int bag = 4;

/// Lets the next kernel start at once, and writes only long after: what follows reads old values
/// unless it waits for this kernel's end.
KernelTemplate late_producer() {
  return {.name = "late_producer.cu",
          .text = R"(
extern "C" __global__ void produce(float* table, long long* ids, int round) {
  asm volatile("griddepcontrol.launch_dependents;");
  const long long start = clock64();
  while (clock64() - start < 100000) {}
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * dim) table[i] = (float)((i * 31u + round * 977u) % 1000u);
  if (i < rows * bag) ids[i] = (i * 2654435761u + round * 40503u) % rows;
}
)",
          .entry = "produce",
          .constants = {{"int", "rows", std::to_string(rows)},
                        {"int", "dim", std::to_string(dim)},
                        {"int", "bag", std::to_string(bag)}}};
}

ForwardSpec spec() {
  ForwardSpec made;
  made.dim = dim;
  made.bags = FixedBags{bag};
  return made;
}

/// A gradient of those bags, and how it is computed.
struct Gradient {
  BackwardSpec spec;
  BackwardMethod method = BackwardMethod::scatter;
};

/// One for every way in which kernels of backward follow each other.
std::vector<Gradient> gradients() {
  const auto of = [](const TableGradient& table_gradient, BackwardMethod method) {
    return Gradient{{.forward = spec(), .table_gradient = table_gradient}, method};
  };
  Gradient of_weights = of(std::monostate{}, BackwardMethod::scatter);
  of_weights.spec.forward.weight_type = DataType::float32;
  of_weights.spec.weight_gradient_type = DataType::float32;
  return {
      of(DenseGradient{}, BackwardMethod::scatter),   of(DenseGradient{}, BackwardMethod::merge),
      of(ClearedGradient{}, BackwardMethod::scatter), of_weights,
      of(DenseGradient{}, BackwardMethod::sort),      of(SparseGradient{}, BackwardMethod::sort),
      of(AppliedGradient{}, BackwardMethod::sort)};
}

/// Buffers for bags whose output is the table of the next.
class Chain {
 public:
  Chain()
      : context_(0),
        engine_({.cache = suite_cache()}),
        producer_(engine_.kernel(late_producer())) {}

  void produce(int round) {
    void* table = tables_[0].data();
    void* ids = ids_.data();
    const std::array<void*, 3> arguments = {&table, &ids, &round};
    producer_.launch({.blocks_x = rows * dim / 128, .threads_x = 128}, arguments, stream_.get());
  }

  /// Pools from one table into another.
  void pool(LaunchMode mode, int bag_lanes, std::size_t from, std::size_t to) {
    Strategy strategy = default_strategy(spec(), gpu_target());
    strategy.bag_lanes = bag_lanes;
    strategy.launch_mode = mode;
    ForwardArguments arguments = bags(from);
    arguments.output = tables_[to].data();
    engine_.forward(spec(), {.strategy = strategy}).launch(arguments, stream_.get());
    if (mode == LaunchMode::plain) stream_.synchronize();
  }

  /// Takes one table for the gradient of the bags' outputs, and gives another what follows: the
  /// gradient of rows or of weights, or a step.
  void give_back(const Gradient& gradient, LaunchMode mode, std::size_t from, std::size_t to) {
    BackwardStrategy strategy = default_strategy(gradient.spec, gradient.method, gpu_target());
    strategy.shape.launch_mode = mode;
    const BackwardKernel& backward = engine_.backward(gradient.spec, {.strategy = strategy});
    BackwardArguments arguments;
    arguments.forward = bags(from);
    arguments.forward.weights = weights_.data();
    arguments.output_gradient = tables_[from].data();
    arguments.table_gradient = tables_[to].data();
    arguments.updated_table = tables_[to].data();
    arguments.weight_gradient = tables_[to].data();
    arguments.capacity = rows;
    arguments.rows = found_rows_.data();
    arguments.count = static_cast<SparseCount*>(count_.data());
    arguments.parameters = static_cast<const OptimizerParameters*>(parameters_.data());
    arguments.workspace_bytes = backward.workspace_bytes(arguments);
    if (std::cmp_less(workspace_.size(), arguments.workspace_bytes)) {
      workspace_ = device::Buffer(static_cast<std::size_t>(arguments.workspace_bytes));
    }
    arguments.workspace = workspace_.data();
    backward.launch(arguments, stream_.get());
    if (mode == LaunchMode::plain) stream_.synchronize();
  }

  void clear(std::size_t number) {
    device::fill_bytes(tables_[number].data(), 0, tables_[number].size(), stream_.get());
    stream_.synchronize();
  }

  std::vector<float> table(std::size_t number) {
    stream_.synchronize();
    return downloaded<float>(tables_[number].data(), rows * dim);
  }

  void forget() {
    for (const device::Buffer& buffer : tables_) {
      device::fill_bytes(buffer.data(), 0xff, buffer.size(), stream_.get());
    }
    device::fill_bytes(ids_.data(), 0, ids_.size(), stream_.get());
    stream_.synchronize();
  }

 private:
  [[nodiscard]] ForwardArguments bags(std::size_t table) const {
    ForwardArguments arguments;
    arguments.table = tables_[table].data();
    arguments.num_rows = rows;
    arguments.ids = ids_.data();
    arguments.batch = rows;
    return arguments;
  }

  device::Context context_;
  Engine engine_;
  const Kernel& producer_;
  device::OwnedStream stream_;
  std::array<device::Buffer, 3> tables_ = {
      device::Buffer(rows * dim * 4), device::Buffer(rows* dim * 4), device::Buffer(rows* dim * 4)};
  device::Buffer ids_{rows * bag * 8};
  device::Buffer weights_ = uploaded(std::vector<float>(rows * bag, 1.0f));
  device::Buffer found_rows_{rows * 8};
  device::Buffer count_{sizeof(SparseCount)};
  device::Buffer parameters_ = uploaded(std::vector{OptimizerParameters{.learning_rate = 1.0f}});
  device::Buffer workspace_;
};

TEST_CASE("a dependent launch waits for a producer that writes late, and the next one for it") {
  if (!dependent_launch_is_here()) return;
  Chain chain;
  const auto run = [&](LaunchMode mode, int bag_lanes, int round) {
    chain.forget();
    chain.produce(round);
    chain.pool(mode, bag_lanes, 0, 1);
    chain.pool(mode, bag_lanes, 1, 2);
    return std::array{chain.table(1), chain.table(2)};
  };
  for (const int bag_lanes : {1, 2}) {
    for (int round = 0; round < 100; ++round) {
      INFO("round " << round << ", bag_lanes " << bag_lanes);
      const bool same =
          run(LaunchMode::dependent, bag_lanes, round) == run(LaunchMode::plain, bag_lanes, round);
      CHECK(same);
    }
  }
}

TEST_CASE("backward waits for a late gradient and late ids, and what reads its result for it") {
  if (!dependent_launch_is_here()) return;
  Chain chain;
  const auto run = [&](const Gradient& gradient, LaunchMode mode, int round) {
    chain.forget();
    // What is added to, stepped or only partly written begins at 0; what is cleared does not.
    if (!std::holds_alternative<ClearedGradient>(gradient.spec.table_gradient)) chain.clear(1);
    chain.produce(round);
    chain.give_back(gradient, mode, 0, 1);
    chain.pool(mode, 1, 1, 2);
    return std::array{chain.table(1), chain.table(2)};
  };
  // Sums of quarters up to 4096, exact in any order; those of the weights have one order.
  for (const Gradient& gradient : gradients()) {
    for (int round = 0; round < 50; ++round) {
      INFO("round " << round << " of " << to_text(validated(gradient.spec)));
      const bool same =
          run(gradient, LaunchMode::dependent, round) == run(gradient, LaunchMode::plain, round);
      CHECK(same);
    }
  }
}

TEST_CASE("200 dependent launches, each on what the last one wrote, are as good as plain ones") {
  if (!dependent_launch_is_here()) return;
  Chain chain;
  const auto run = [&](LaunchMode mode) {
    chain.forget();
    chain.produce(1);
    for (std::size_t i = 0; i < 200; ++i) chain.pool(mode, 1, i % 3, (i + 1) % 3);
    return std::array{chain.table(0), chain.table(1), chain.table(2)};
  };
  const auto expected = run(LaunchMode::plain);
  for (int repeat = 0; repeat < 10; ++repeat) {
    const bool same = run(LaunchMode::dependent) == expected;
    CHECK(same);
  }
}

}  // namespace
}  // namespace jitbag::test
