#include "jitbag/backward.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "backward_on_gpu.hpp"
#include "catch.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

TEST_CASE("every kernel of the matrix computes on the GPU the gradients that the oracle says") {
  if (!gpu_is_here()) return;
  std::cout << fmt::format("JITBAG_TEST_SEED={}\n", seed());
  const Target target = gpu_target();
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  for (const BackwardMatrixKernel& kernel : backward_matrix(seed())) {
    INFO(describe(kernel, target));
    const BackwardKernel& backward =
        engine.backward(kernel.spec, {.strategy = strategy_for(kernel, target)});
    for (const ForwardCaseOptions& options : launches_of(kernel)) {
      const BackwardCase given(kernel.spec, options);
      INFO(given.inputs.description);
      CHECK(launch_and_check(backward, given, stream) == "");
      const bool reports = kernel.spec.forward.bad_ids == BadIds::report;
      const std::string expected = caught([&] {
        GradientArrays arrays = given.before;
        host::backward(kernel.spec, given.host_arguments(arrays));
      });
      CHECK(caught([&] { engine.check(); }) == (reports ? expected : "nothing"));
    }
  }
}

TEST_CASE("a million ids that all name one row add up, by either method") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  BackwardSpec spec;
  spec.forward.dim = 64;
  spec.forward.bags = FixedBags{4};
  spec.forward.pooling = Pooling::sum;
  spec.deterministic = GENERATE(false, true);
  constexpr std::int64_t batch = 250'000;
  const device::Buffer ids = uploaded(std::vector<std::int64_t>(batch * 4, 3));
  const device::Buffer output_gradient = uploaded(std::vector<float>(batch * 64, 0.25f));
  const device::Buffer gradient = uploaded(std::vector<float>(5 * 64, 1.0f));
  BackwardArguments arguments;
  arguments.forward = {.num_rows = 5, .ids = ids.data(), .batch = batch};
  arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = gradient.data();
  const BackwardKernel& backward = engine.backward(spec);
  arguments.workspace_bytes = backward.workspace_bytes(arguments);
  const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
  arguments.workspace = workspace.data();
  backward.launch(arguments, stream.get());
  stream.synchronize();
  std::vector<float> expected(5 * 64, 1.0f);
  std::fill(expected.begin() + 3 * 64, expected.begin() + 4 * 64, 250'001.0f);
  CHECK((downloaded<float>(gradient.data(), 5 * 64) == expected));
}

TEST_CASE("a million ids by a power law of 1.5 add up, by every method (pytorch#20655, PR#22016)") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  BackwardSpec spec;
  spec.forward.dim = 32;
  spec.forward.bags = FixedBags{4};
  spec.forward.pooling = Pooling::sum;
  const auto method =
      GENERATE(BackwardMethod::scatter, BackwardMethod::merge, BackwardMethod::sort);
  constexpr std::int64_t batch = 250'000, num_rows = 200'000, dim = 32;
  std::mt19937_64 random(seed());
  std::vector<std::int64_t> ids(batch * 4);
  for (std::int64_t& id : ids) {
    const double uniform = static_cast<double>(random() % 1'000'000 + 1) / 1e6;
    const auto rank = static_cast<std::int64_t>(1 / (uniform * uniform));  // over k: 1 / sqrt(k)
    id = rank % num_rows;
  }
  // Small integers: the sums are exact, in any order.
  std::vector<float> output_gradient(batch * dim);
  for (float& one : output_gradient) one = static_cast<float>(random() % 7) - 3;
  std::vector<float> expected(num_rows * dim);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const float* const of_bag = output_gradient.data() + i / 4 * dim;
    float* const of_row = expected.data() + static_cast<std::size_t>(ids[i]) * dim;
    for (std::size_t c = 0; c < dim; ++c) of_row[c] += of_bag[c];
  }
  const device::Buffer on_device = uploaded(ids);
  const device::Buffer gradient_on_device = uploaded(output_gradient);
  const device::Buffer gradient = uploaded(std::vector<float>(num_rows * dim));
  BackwardArguments arguments;
  arguments.forward = {.num_rows = num_rows, .ids = on_device.data(), .batch = batch};
  arguments.output_gradient = gradient_on_device.data();
  arguments.table_gradient = gradient.data();
  const BackwardKernel& backward =
      engine.backward(spec, {.strategy = default_strategy(spec, method, gpu_target(), batch)});
  arguments.workspace_bytes = backward.workspace_bytes(arguments);
  const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
  arguments.workspace = workspace.data();
  backward.launch(arguments, stream.get());
  stream.synchronize();
  CHECK((downloaded<float>(gradient.data(), expected.size()) == expected));
}

TEST_CASE("rows of 4096 columns have all of their gradient (torchrec#3673, FBGEMM PR#5569)") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  for (const TableGradient& gradient :
       {TableGradient(DenseGradient{}), TableGradient(SparseGradient{}),
        TableGradient(AppliedGradient{Optimizer::row_wise_adagrad})}) {
    BackwardSpec spec;
    spec.forward.dim = 4096;
    spec.forward.bags = FixedBags{3};
    spec.table_gradient = gradient;
    const ForwardCaseOptions options{.spec = spec.forward,
                                     .batch = 200,
                                     .num_rows = 60,
                                     .mix = {.duplicates = 0.5},
                                     .seed = seed()};
    INFO(to_text(validated(spec)));
    CHECK(launch_and_check(engine.backward(spec), BackwardCase(spec, options), stream) == "");
  }
}

/// A training problem with ids from uniform to one single row, a million times, in random order.
struct Skewed {
  explicit Skewed(int skew)
      : batch(skew == 3 ? 250'000 : 50'000), random(seed() + static_cast<std::uint64_t>(skew)) {
    for (std::int64_t& id : ids) {
      const std::uint64_t any = random() % num_rows;
      id = static_cast<std::int64_t>(skew == 0 ? any : any % (std::uint64_t{1} << 3 * (3 - skew)));
      if (random() % 4 == 0) id = static_cast<std::int64_t>(any);
      if (skew == 3) id = 7;
    }
    for (float& one : gradient) one = static_cast<float>(random() % 1000) / 777 - 0.6f;
  }
  static constexpr std::int64_t dim = 48, num_rows = 3000, bag = 4;
  std::int64_t batch;
  std::mt19937_64 random;
  std::vector<std::int64_t> ids = std::vector<std::int64_t>(batch * bag);
  std::vector<float> gradient = std::vector<float>(batch * dim);
};

TEST_CASE(
    "the sort method gives the same bits a hundred times, for any grid and skew, and those "
    "are right") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const int skew = GENERATE(0, 1, 2, 3);
  const bool takes_maxima = GENERATE(false, true);
  const Skewed given(skew);
  BackwardSpec spec;
  spec.forward.dim = Skewed::dim;
  spec.forward.bags = FixedBags{Skewed::bag};
  spec.forward.pooling = takes_maxima ? Pooling::max : Pooling::mean;
  spec.forward.winners = takes_maxima;
  spec.deterministic = true;

  std::vector<std::int64_t> won(given.batch * Skewed::dim);
  for (std::size_t i = 0; i < won.size(); ++i) {
    won[i] = given.ids[i / Skewed::dim * Skewed::bag + i % Skewed::bag];
  }
  const device::Buffer ids = uploaded(given.ids);
  const device::Buffer winners = uploaded(won);
  const device::Buffer output_gradient = uploaded(given.gradient);
  const std::vector<float> zeros(Skewed::num_rows * Skewed::dim, 0.0f);
  const device::Buffer gradient = uploaded(zeros);
  BackwardArguments arguments;
  arguments.forward = {.num_rows = Skewed::num_rows,
                       .ids = ids.data(),
                       .batch = given.batch,
                       .winners = winners.data()};
  arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = gradient.data();
  std::vector<float> first;
  for (int run = 0; run < 100; ++run) {
    BackwardStrategy strategy = default_strategy(spec, gpu_target());
    strategy.shape.block_threads = std::vector{64, 128, 256, 512}[run % 4];
    const BackwardKernel& backward = engine.backward(spec, {.strategy = strategy});
    arguments.workspace_bytes = backward.workspace_bytes(arguments);
    const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
    arguments.workspace = workspace.data();
    device::fill_bytes(gradient.data(), 0, gradient.size(), stream.get());
    backward.launch(arguments, stream.get());
    stream.synchronize();
    const std::vector<float> now = downloaded<float>(gradient.data(), zeros.size());
    if (first.empty()) first = now;
    REQUIRE((now == first));
  }
  arguments.forward.ids = given.ids.data();
  arguments.forward.winners = won.data();
  const auto sums_of = [&](const std::vector<float>& gradients) {
    std::vector<double> sums(zeros.size());
    arguments.output_gradient = gradients.data();
    arguments.table_gradient = sums.data();
    spec.table_gradient = DenseGradient{DataType::float64};
    host::backward(spec, arguments);
    return sums;
  };
  std::vector<float> magnitudes = given.gradient;
  for (float& one : magnitudes) one = std::abs(one);
  const std::vector<double> expected = sums_of(given.gradient);
  const std::vector<double> magnitude = sums_of(magnitudes);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    // Of a million ids 32 parts of a thousand slices each, of 32: sums of sums of a thousand terms.
    REQUIRE(std::abs(double{first[i]} - expected[i]) <= 2048 * 0x1p-24 * magnitude[i]);
  }
}

TEST_CASE("a sparse gradient of millions of ids has every row once, in order, and its sum") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  BackwardSpec spec;
  spec.forward.dim = 1;
  spec.forward.pooling = Pooling::none;
  spec.table_gradient = SparseGradient{};
  // More tiles of keys than a block has threads, of a table whose numbers take three passes.
  constexpr std::int64_t count = 2'500'000, num_rows = 9'000'000;
  std::mt19937_64 random(seed());
  std::vector<std::int64_t> ids(count);
  std::vector<float> named(num_rows, 0.0f);
  for (std::int64_t& id : ids) {
    id = static_cast<std::int64_t>(random() % num_rows);
    named[static_cast<std::size_t>(id)] += 1.0f;
  }
  std::vector<std::int64_t> expected_rows;
  std::vector<float> expected;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    if (named[static_cast<std::size_t>(row)] == 0) continue;
    expected_rows.push_back(row);
    expected.push_back(named[static_cast<std::size_t>(row)]);
  }
  const device::Buffer on_device = uploaded(ids);
  const device::Buffer output_gradient = uploaded(std::vector<float>(count, 1.0f));
  const device::Buffer gradient(count * sizeof(float));
  const device::Buffer rows(count * sizeof(std::int64_t));
  const device::Buffer found(sizeof(SparseCount));
  BackwardArguments arguments;
  arguments.forward = {.num_rows = num_rows, .ids = on_device.data(), .batch = count};
  arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = gradient.data();
  arguments.rows = rows.data();
  arguments.capacity = count;
  arguments.count = static_cast<SparseCount*>(found.data());
  const BackwardKernel& backward = engine.backward(spec);
  arguments.workspace_bytes = backward.workspace_bytes(arguments);
  const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
  arguments.workspace = workspace.data();
  backward.launch(arguments, stream.get());
  stream.synchronize();
  const auto written = downloaded<SparseCount>(found.data(), 1).front();
  REQUIRE(written.rows == static_cast<std::int64_t>(expected.size()));
  CHECK(written.missing == 0);
  CHECK((downloaded<std::int64_t>(rows.data(), expected.size()) == expected_rows));
  CHECK((downloaded<float>(gradient.data(), expected.size()) == expected));
}

TEST_CASE("forward, backward and clearing are captured once and replayed with other ids") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  constexpr std::int64_t dim = 36, num_rows = 500, batch = 3000, bag = 3;
  BackwardSpec spec;
  spec.forward.dim = dim;
  spec.forward.bags = FixedBags{bag};
  spec.forward.padding_id = 0;
  BackwardSpec clearing = spec;
  clearing.table_gradient = ClearedGradient{};
  const ForwardKernel& forward = engine.forward(spec.forward);
  const BackwardKernel& backward = engine.backward(spec);
  const BackwardKernel& clear = engine.backward(clearing);

  std::mt19937_64 random(seed());
  std::vector<float> table(num_rows * dim);
  for (float& one : table) one = static_cast<float>(random() % 64) / 16 - 2;
  const device::Buffer on_device = uploaded(table);
  const device::Buffer ids(batch * bag * sizeof(std::int64_t));
  const device::Buffer output(batch * dim * sizeof(float));
  const device::Buffer gradient = uploaded(std::vector<float>(num_rows * dim, 0.0f));
  BackwardArguments arguments;
  arguments.forward = {.table = on_device.data(),
                       .num_rows = num_rows,
                       .ids = ids.data(),
                       .output = output.data(),
                       .batch = batch};
  // Of half the sum of the output's squares the output is the gradient, and must be whole by then.
  arguments.output_gradient = output.data();
  arguments.table_gradient = gradient.data();
  const device::Graph step(stream.get(), [&] {
    forward.launch(arguments.forward, stream.get());
    backward.launch(arguments, stream.get());
  });
  const device::Graph cleanup(stream.get(), [&] { clear.launch(arguments, stream.get()); });

  for (int replay = 0; replay < 20; ++replay) {
    std::vector<std::int64_t> chosen(batch * bag);
    for (std::int64_t& id : chosen) id = static_cast<std::int64_t>(random() % num_rows);
    device::copy_to_device(ids.data(), chosen.data(), ids.size());
    step.launch(stream.get());
    stream.synchronize();
    std::vector<float> expected(num_rows * dim, 0.0f), pooled(batch * dim);
    BackwardArguments on_host;
    on_host.forward = {.table = table.data(),
                       .num_rows = num_rows,
                       .ids = chosen.data(),
                       .output = pooled.data(),
                       .batch = batch};
    on_host.output_gradient = pooled.data();
    on_host.table_gradient = expected.data();
    host::forward(spec.forward, on_host.forward);
    host::backward(spec, on_host);
    const std::vector<float> actual = downloaded<float>(gradient.data(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO("replay " << replay << " element " << i);
      REQUIRE(actual[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-4));
    }
    cleanup.launch(stream.get());
    stream.synchronize();
    REQUIRE((downloaded<float>(gradient.data(), expected.size()) ==
             std::vector<float>(expected.size(), 0.0f)));
  }
}

TEST_CASE("a launch by sorting refuses a workspace that is too small, or not aligned") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  BackwardSpec spec;
  spec.forward.dim = 4;
  spec.deterministic = true;
  const BackwardKernel& backward = engine.backward(spec);
  const device::Buffer memory(1 << 20);
  BackwardArguments arguments;
  arguments.forward = {.num_rows = 5, .ids = memory.data(), .batch = 10};
  arguments.output_gradient = memory.data();
  arguments.table_gradient = memory.data();
  CHECK_THAT(caught([&] { backward.launch(arguments, stream.get()); }),
             Catch::Matchers::StartsWith("invalid_argument: workspace_bytes is 0, but"));
  arguments.workspace_bytes = 1 << 20;
  CHECK_THAT(caught([&] { backward.launch(arguments, stream.get()); }),
             Catch::Matchers::StartsWith("invalid_argument: workspace is at 0x0; it must be"));
}

}  // namespace
}  // namespace jitbag::test
