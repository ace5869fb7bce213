#include "jitbag/backward.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/backward_case.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

/// A copy of a host array, at the same distance from a multiple of 16 bytes.
struct OnDevice {
  explicit OnDevice(const PlacedArray& array) : host(array), buffer(uploaded(array.buffer)) {}

  [[nodiscard]] void* data() const {
    return host.buffer.empty() ? nullptr : static_cast<std::byte*>(buffer.data()) + host.begin;
  }
  [[nodiscard]] PlacedArray now() const {
    PlacedArray array = host;
    array.buffer = downloaded<std::byte>(buffer.data(), buffer.size());
    return array;
  }

  PlacedArray host;
  device::Buffer buffer;
};

/// Launches, waits, and compares with the oracle. Returns nothing, or one sentence.
std::string launch_and_check(const BackwardKernel& kernel, const BackwardCase& given,
                             const device::OwnedStream& stream) {
  const DeviceCase inputs(given.inputs);
  const OnDevice output_gradient(given.output_gradient);
  const OnDevice winners(given.winners);
  const OnDevice gradient(given.gradient);
  BackwardArguments arguments;
  arguments.forward = inputs.arguments();
  arguments.forward.winners = winners.data();
  const bool reads = given.host_arguments().output_gradient != nullptr;
  if (reads) arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = gradient.data();
  kernel.launch(arguments, stream.get());
  stream.synchronize();
  return given.check(gradient.now());
}

TEST_CASE("every kernel of the matrix adds on the GPU the gradient that the oracle says") {
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
    for (const ForwardCaseOptions& options : launches_of(kernel.forward)) {
      const BackwardCase given(kernel.spec, options);
      INFO(given.inputs.description);
      CHECK(launch_and_check(backward, given, stream) == "");
      const bool reports = kernel.spec.forward.bad_ids == BadIds::report;
      const std::string expected = caught([&] {
        BackwardArguments arguments = given.host_arguments();
        PlacedArray gradient = given.gradient;
        arguments.table_gradient = gradient.data();
        host::backward(kernel.spec, arguments);
      });
      CHECK(caught([&] { engine.check(); }) == (reports ? expected : "nothing"));
    }
  }
}

TEST_CASE("a million ids that all name one row add up") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  BackwardSpec spec;
  spec.forward.dim = 64;
  spec.forward.bags = FixedBags{4};
  spec.forward.pooling = Pooling::sum;
  constexpr std::int64_t batch = 250'000;
  const device::Buffer ids = uploaded(std::vector<std::int64_t>(batch * 4, 3));
  const device::Buffer output_gradient = uploaded(std::vector<float>(batch * 64, 0.25f));
  const device::Buffer gradient = uploaded(std::vector<float>(5 * 64, 1.0f));
  BackwardArguments arguments;
  arguments.forward = {.num_rows = 5, .ids = ids.data(), .batch = batch};
  arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = gradient.data();
  engine.backward(spec).launch(arguments, stream.get());
  stream.synchronize();
  std::vector<float> expected(5 * 64, 1.0f);
  std::fill(expected.begin() + 3 * 64, expected.begin() + 4 * 64, 250'001.0f);
  CHECK((downloaded<float>(gradient.data(), 5 * 64) == expected));
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

TEST_CASE("the GPU refuses a gradient that it has no kernel for") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  Engine engine({.cache = cache::CacheOptions{}});
  BackwardSpec spec;
  spec.forward.dim = 4;
  spec.deterministic = true;
  CHECK_THAT(caught([&] { static_cast<void>(engine.backward(spec)); }),
             Catch::Matchers::StartsWith("invalid_argument: There is no kernel yet for"));
}

}  // namespace
}  // namespace jitbag::test
