#include <cstdint>
#include <random>
#include <variant>
#include <vector>

#include "backward_on_gpu.hpp"
#include "catch.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

/// Poolings, types and layouts of bags in every combination, with each kind of gradient of the
/// table in turn.
std::vector<BackwardSpec> specs_of_every_kind() {
  const std::vector<TableGradient> table_gradients = {std::monostate{}, DenseGradient{},
                                                      DenseGradient{DataType::bfloat16},
                                                      SparseGradient{}, AppliedGradient{}};
  const std::vector<DataType> types = {DataType::float32, DataType::float64, DataType::float16,
                                       DataType::bfloat16};
  std::vector<BackwardSpec> specs;
  for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::mean_by_weights}) {
    for (std::size_t type = 0; type < types.size(); ++type) {
      for (const BagLayout& bags : {BagLayout(FixedBags{12}), BagLayout(CsrBags{})}) {
        const std::size_t number = specs.size();
        BackwardSpec spec;
        spec.forward.dim = 20;
        spec.forward.bags = bags;
        spec.forward.pooling = pooling;
        spec.forward.padding_id = 0;
        spec.forward.table_type = types[type];
        spec.forward.alignment = 8;
        spec.forward.output_type = types[(type + number) % types.size()];
        spec.forward.weight_type = types[(type + number / 2) % types.size()];
        spec.weight_gradient_type = types[(type + number / 3) % types.size()];
        spec.table_gradient = table_gradients[number % table_gradients.size()];
        specs.push_back(validated(spec));
      }
    }
  }
  return specs;
}

TEST_CASE("the gradient of the weights is right on the GPU, beside every gradient of the table") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  for (const BackwardSpec& spec : specs_of_every_kind()) {
    INFO(to_text(spec));
    ForwardCaseOptions options;
    options.spec = spec.forward;
    options.batch = 700;
    options.num_rows = 400;
    options.longest_bag = 40;
    options.seed = seed();
    CHECK(launch_and_check(engine.backward(spec), BackwardCase(spec, options), stream) == "");
  }
}

TEST_CASE("a step with the gradient of the weights is captured once and replayed with other ids") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  constexpr std::int64_t dim = 36, num_rows = 500, batch = 3000, bag = 3;
  BackwardSpec spec;
  spec.forward.dim = dim;
  spec.forward.bags = FixedBags{bag};
  spec.forward.pooling = GENERATE(as<Pooling>(), Pooling::sum, Pooling::mean_by_weights);
  spec.forward.weight_type = DataType::float32;
  spec.forward.padding_id = 0;
  spec.table_gradient = AppliedGradient{};
  spec.weight_gradient_type = DataType::float32;
  const ForwardKernel& forward = engine.forward(spec.forward);
  const BackwardKernel& backward = engine.backward(spec);

  std::mt19937_64 random(seed());
  std::vector<float> table(num_rows * dim);
  for (float& one : table) one = static_cast<float>(random() % 64) / 16 - 2;
  const OptimizerParameters by{.learning_rate = 0.01f};
  const device::Buffer table_on_device = uploaded(table);
  const device::Buffer ids(batch * bag * sizeof(std::int64_t));
  const device::Buffer weights(batch * bag * sizeof(float));
  const device::Buffer output(batch * dim * sizeof(float));
  const device::Buffer gradient(batch * bag * sizeof(float));
  const device::Buffer parameters = uploaded(std::vector<OptimizerParameters>{by});
  BackwardArguments arguments;
  arguments.forward = {.table = table_on_device.data(),
                       .num_rows = num_rows,
                       .ids = ids.data(),
                       .output = output.data(),
                       .batch = batch,
                       .weights = weights.data()};
  // Of half the sum of the output's squares the output is the gradient.
  arguments.output_gradient = output.data();
  arguments.updated_table = table_on_device.data();
  arguments.parameters = static_cast<const OptimizerParameters*>(parameters.data());
  arguments.weight_gradient = gradient.data();
  arguments.workspace_bytes = backward.workspace_bytes(arguments);
  const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
  arguments.workspace = workspace.data();
  const device::Graph step(stream.get(), [&] {
    forward.launch(arguments.forward, stream.get());
    backward.launch(arguments, stream.get());
  });

  for (int replay = 0; replay < 10; ++replay) {
    std::vector<std::int64_t> chosen(batch * bag);
    for (std::int64_t& id : chosen) id = static_cast<std::int64_t>(random() % num_rows);
    std::vector<float> weighed(batch * bag);
    for (float& one : weighed) one = static_cast<float>(1 + random() % 16) / 8;
    device::copy_to_device(ids.data(), chosen.data(), ids.size());
    device::copy_to_device(weights.data(), weighed.data(), weights.size());
    device::copy_to_device(table_on_device.data(), table.data(), table_on_device.size());
    step.launch(stream.get());
    stream.synchronize();

    std::vector<float> expected(batch * bag), pooled(batch * dim);
    BackwardArguments on_host;
    on_host.forward = {.table = table.data(),
                       .num_rows = num_rows,
                       .ids = chosen.data(),
                       .output = pooled.data(),
                       .batch = batch,
                       .weights = weighed.data()};
    on_host.output_gradient = pooled.data();
    on_host.updated_table = table.data();
    on_host.parameters = &by;
    on_host.weight_gradient = expected.data();
    host::forward(spec.forward, on_host.forward);
    host::backward(spec, on_host);
    const auto actual = downloaded<float>(gradient.data(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO("replay " << replay << " weight " << i);
      REQUIRE(actual[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-3));
    }
    const auto stepped = downloaded<float>(table_on_device.data(), table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
      INFO("replay " << replay << " element " << i);
      REQUIRE(stepped[i] == Approx(table[i]).epsilon(1e-4).margin(1e-3));
    }
  }
}

}  // namespace
}  // namespace jitbag::test
