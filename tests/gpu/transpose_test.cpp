#include "jitbag/transpose.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "jitbag/host.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"
#include "support/transpose_case.hpp"

namespace jitbag::test {
namespace {

/// A case's outputs in device memory, poison in them and all round.
class DeviceOutputs {
 public:
  explicit DeviceOutputs(const TransposeOutputs& before) : outputs_(before) {
    for (const PlacedArray* array : outputs_.arrays()) buffers_.push_back(uploaded(array->buffer));
    count_ = uploaded(std::vector<TransposeCount>{before.count});
  }

  /// Those of a host, moved here.
  [[nodiscard]] TransposeArguments moved(TransposeArguments arguments) {
    const std::array fields{&arguments.rows,           &arguments.begins,
                            &arguments.bags_by_row,    &arguments.positions_by_row,
                            &arguments.weights_by_row, &arguments.inverse};
    const auto arrays = outputs_.arrays();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (arrays[i]->buffer.empty()) continue;
      *fields[i] = static_cast<std::byte*>(buffers_[i].data()) + arrays[i]->begin;
    }
    arguments.count = static_cast<TransposeCount*>(count_.data());
    return arguments;
  }

  [[nodiscard]] TransposeOutputs now() {
    TransposeOutputs outputs = outputs_;
    const auto arrays = outputs.arrays();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      arrays[i]->buffer = downloaded<std::byte>(buffers_[i].data(), buffers_[i].size());
    }
    outputs.count = downloaded<TransposeCount>(count_.data(), 1).front();
    return outputs;
  }

 private:
  TransposeOutputs outputs_;
  std::vector<device::Buffer> buffers_;
  device::Buffer count_;
};

/// Launches, waits, and compares. Returns nothing, or one sentence.
std::string launch_and_check(const TransposeKernel& kernel, const TransposeCase& given,
                             const device::OwnedStream& stream) {
  const DeviceCase inputs(given.inputs);
  DeviceOutputs outputs(given.before);
  TransposeOutputs unused = given.before;
  TransposeArguments arguments = outputs.moved(given.host_arguments(unused));
  arguments.forward = inputs.arguments();
  arguments.workspace_bytes = kernel.workspace_bytes(arguments);
  const device::Buffer workspace = uploaded(
      std::vector<std::byte>(static_cast<std::size_t>(arguments.workspace_bytes), std::byte{0xcd}));
  arguments.workspace = workspace.data();
  kernel.launch(arguments, stream.get());
  stream.synchronize();
  return given.check(outputs.now());
}

TEST_CASE("a transposition on the GPU gives what a stable sort gives, and nothing else") {
  if (!gpu_is_here()) return;
  std::cout << fmt::format("JITBAG_TEST_SEED={}\n", seed());
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  for (const TransposeSpec& spec : transpose_specs()) {
    const TransposeKernel& kernel = engine.transpose(spec);
    for (const TransposeCase& given : transpose_cases(spec, 2000)) {
      INFO(given.description);
      CHECK(launch_and_check(kernel, given, stream) == "");
      TransposeOutputs outputs = given.before;
      const std::string expected =
          caught([&] { host::transpose(spec, given.host_arguments(outputs)); });
      CHECK(caught([&] { engine.check(); }) == expected);
    }
  }
}

/// Ids of fixed bags, in host memory and on the device, and room for all their rows.
struct Bags {
  static constexpr std::int64_t bag = 4, num_rows = 900'000;
  static constexpr TransposeSpec spec() {
    TransposeSpec spec;
    spec.bags = FixedBags{bag};
    spec.padding_id = 0;
    return spec;
  }

  explicit Bags(std::int64_t bags) : batch(bags), ids(static_cast<std::size_t>(bags * bag)) {
    const std::size_t indices = ids.size() * sizeof(std::int32_t);
    on_device = device::Buffer(ids.size() * sizeof(std::int64_t));
    rows = device::Buffer(on_device.size());
    begins = device::Buffer(indices + sizeof(std::int32_t));
    for (device::Buffer* const buffer : {&of_bags, &positions, &inverse}) {
      *buffer = device::Buffer(indices);
    }
    count = device::Buffer(sizeof(TransposeCount));
  }

  /// A quarter of them padding; of the rest one of `hot` a single row.
  void draw(std::mt19937_64& random, std::uint64_t hot) {
    for (std::int64_t& id : ids) {
      id = static_cast<std::int64_t>(random() % num_rows);
      if (random() % hot == 0) id = 777;
      if (random() % 4 == 0) id = 0;
    }
    device::copy_to_device(on_device.data(), ids.data(), on_device.size());
  }

  [[nodiscard]] TransposeArguments arguments() const {
    return {.forward = {.num_rows = num_rows, .ids = on_device.data(), .batch = batch},
            .capacity = batch * bag,
            .rows = rows.data(),
            .count = static_cast<TransposeCount*>(count.data()),
            .begins = begins.data(),
            .bags_by_row = of_bags.data(),
            .positions_by_row = positions.data(),
            .inverse = inverse.data()};
  }

  /// Against the host's.
  void check() const {
    std::vector<std::int64_t> host_rows(ids.size());
    std::vector<std::int32_t> host_begins(ids.size() + 1), host_bags(ids.size()),
        host_positions(ids.size()), host_inverse(ids.size());
    TransposeCount host_count;
    host::transpose(spec(), {.forward = {.num_rows = num_rows, .ids = ids.data(), .batch = batch},
                             .capacity = batch * bag,
                             .rows = host_rows.data(),
                             .count = &host_count,
                             .begins = host_begins.data(),
                             .bags_by_row = host_bags.data(),
                             .positions_by_row = host_positions.data(),
                             .inverse = host_inverse.data()});
    const auto found = downloaded<TransposeCount>(count.data(), 1).front();
    REQUIRE(found.rows == host_count.rows);
    REQUIRE(found.missing == 0);
    REQUIRE(found.ids == host_count.ids);
    const auto is_equal = [](const device::Buffer& buffer, auto& values, std::int64_t written) {
      values.resize(static_cast<std::size_t>(written));
      using Value = typename std::remove_reference_t<decltype(values)>::value_type;
      return downloaded<Value>(buffer.data(), values.size()) == values;
    };
    CHECK(is_equal(rows, host_rows, found.rows));
    CHECK(is_equal(begins, host_begins, found.rows + 1));
    CHECK(is_equal(of_bags, host_bags, found.ids));
    CHECK(is_equal(positions, host_positions, found.ids));
    CHECK(is_equal(inverse, host_inverse, batch * bag));
  }

  std::int64_t batch;
  std::vector<std::int64_t> ids;
  device::Buffer on_device, rows, begins, of_bags, positions, inverse, count;
};

TEST_CASE("millions of ids are transposed on the GPU as on the host, spread or of one row") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const TransposeKernel& kernel = engine.transpose(Bags::spec());
  std::mt19937_64 random(seed());
  const std::uint64_t hot = GENERATE(1, 3, 1'000'000);
  // Slices of 32 uses, and of 128.
  const std::int64_t batch = GENERATE(100'000, 600'000);
  INFO("batch: " << batch << ", one of " << hot << " is row 777");
  Bags bags(batch);
  bags.draw(random, hot);
  TransposeArguments arguments = bags.arguments();
  arguments.workspace_bytes = kernel.workspace_bytes(arguments);
  const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
  arguments.workspace = workspace.data();
  kernel.launch(arguments, stream.get());
  stream.synchronize();
  bags.check();
}

TEST_CASE("a transposition is captured once and replayed with other ids") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const TransposeKernel& kernel = engine.transpose(Bags::spec());
  std::mt19937_64 random(seed());
  Bags bags(5000);
  TransposeArguments arguments = bags.arguments();
  arguments.workspace_bytes = kernel.workspace_bytes(arguments);
  const device::Buffer workspace(static_cast<std::size_t>(arguments.workspace_bytes));
  arguments.workspace = workspace.data();
  const device::Graph graph(stream.get(), [&] { kernel.launch(arguments, stream.get()); });
  for (int replay = 0; replay < 10; ++replay) {
    INFO("replay " << replay);
    bags.draw(random, 2 + static_cast<std::uint64_t>(replay));
    graph.launch(stream.get());
    stream.synchronize();
    bags.check();
  }
}

TEST_CASE("a transposition refuses a workspace that is too small") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const Bags bags(10);
  CHECK_THAT(caught([&] { engine.transpose(Bags::spec()).launch(bags.arguments(), stream.get()); }),
             Catch::Matchers::StartsWith("invalid_argument: workspace_bytes is 0, but"));
}

}  // namespace
}  // namespace jitbag::test
