#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "device_tables.hpp"
#include "gpu.hpp"
#include "npy.hpp"
#include "support/caught.hpp"
#include "support/elements.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"
#include "support/tables_case.hpp"

namespace jitbag::test {
namespace {

using Joining = TablesSpec::Bags;
using Outputs = TablesSpec::Outputs;

/// A GPU with an Engine, on which sets of tables are compared with the oracle and with each table
/// by itself.
class TablesRun {
 public:
  TablesRun() : context_(0), engine_({.cache = suite_cache()}) {}

  Engine& engine() { return engine_; }
  [[nodiscard]] const device::OwnedStream& stream() const { return stream_; }

  /// Returns nothing, or one sentence.
  [[nodiscard]] std::string check(const TablesKernel& kernel, const TablesCase& tables_case) {
    const DeviceTables together(tables_case);
    kernel.launch(kernel.bind(together.arguments()), together.joined(), stream_.get());
    stream_.synchronize();
    TablesOutputs outputs = together.outputs();
    const std::string reported = caught([&] { engine_.check(); });
    const auto bad = first_bad_input(tables_case);
    const std::string expected = caught([&] {
      if (bad) throw bad_input_error(*bad);
    });
    std::string problem = outputs.check();
    if (!problem.empty()) return problem;
    if (reported != expected) return "Expected " + expected + ", not " + reported;
    return outputs.difference_from(each_by_itself(kernel, tables_case));
  }

 private:
  TablesOutputs each_by_itself(const TablesKernel& kernel, const TablesCase& tables_case) {
    const DeviceTables by_itself(tables_case);
    const auto tables = alone(kernel.spec(), by_itself.arguments(), by_itself.joined());
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const ForwardChoice choice{.strategy = kernel.strategies()[t], .expected_batch = {}};
      engine_.forward(tables[t].spec, choice).launch(tables[t].arguments, stream_.get());
      stream_.synchronize();
      static_cast<void>(caught([&] { engine_.check(); }));
    }
    return by_itself.outputs();
  }

  device::Context context_;
  Engine engine_;
  device::OwnedStream stream_;
};

TEST_CASE("many tables in one launch give what the oracle says, and the bits of each by itself") {
  if (!gpu_is_here()) return;
  std::cout << fmt::format("JITBAG_TEST_SEED={}\n", seed());
  TablesRun gpu;
  for (const auto bags : {Joining::separate, Joining::joined}) {
    for (const auto outputs : {Outputs::separate, Outputs::side_by_side}) {
      for (const std::size_t count : {3, 7}) {
        Random random(seed() + count);
        const TablesSpec spec = random_tables(count, bags, outputs, random);
        const TablesKernel& kernel = gpu.engine().tables(
            spec,
            {.strategies = random_strategies(spec, gpu_target(), random), .expected_batch = 10});
        INFO(to_text(spec));
        for (const std::int64_t batch : {0, 1, 37, 1023}) {
          INFO("batch " << batch);
          CHECK(gpu.check(kernel, make_tables_case({.spec = spec,
                                                    .batch = batch,
                                                    .most_rows = 300,
                                                    .seed = random.number()})) == "");
        }
      }
    }
  }
}

/// Four kinds of tables, over and over.
TablesSpec many_tables(std::size_t count, const BagLayout& bags) {
  TablesSpec spec{
      .tables = {}, .bags = Joining::joined, .outputs = Outputs::side_by_side, .expected = {}};
  for (std::size_t t = 0; t < count; ++t) {
    ForwardSpec table;
    table.dim = t % 4 == 3 ? 5 : 64;
    table.bags = bags;
    table.pooling = t % 2 == 0 ? Pooling::sum : Pooling::max;
    table.table_type = t % 4 < 2 ? DataType::float16 : DataType::float32;
    table.padding_id = 0;
    spec.tables.push_back(table);
  }
  return spec;
}

TEST_CASE("1000 tables of four kinds in one launch") {
  if (!gpu_is_here()) return;
  TablesRun gpu;
  const TablesSpec spec = many_tables(1000, CsrBags{});
  const TablesKernel& kernel = gpu.engine().tables(spec, {.strategies = {}, .expected_batch = 50});
  CHECK(gpu.check(kernel, make_tables_case({.spec = spec, .batch = 50, .seed = seed()})) == "");
}

TEST_CASE("a launch of many tables is captured and replayed with other inputs") {
  if (!gpu_is_here()) return;
  TablesRun gpu;
  const TablesSpec spec = many_tables(8, FixedBags{5});
  const auto case_number = [&](std::uint64_t number) {
    // Of one size, whatever the number of rows: rows are given at the capture.
    std::vector<ForwardCase> tables;
    for (const ForwardSpec& table : spec.tables) {
      tables.push_back(make_forward_case(
          {.spec = table, .batch = 300, .num_rows = 100, .seed = seed() + 100 * number}));
    }
    return make_tables_case(spec, std::move(tables));
  };
  const TablesKernel& kernel = gpu.engine().tables(spec);
  const TablesCase first = case_number(0);
  DeviceTables on_device(first);
  const TablesBinding binding = kernel.bind(on_device.arguments());
  const device::Graph graph(
      gpu.stream().get(), [&] { kernel.launch(binding, on_device.joined(), gpu.stream().get()); });
  for (std::uint64_t replay = 0; replay < 4; ++replay) {
    const TablesCase other = case_number(replay);
    on_device.replace(other);
    graph.launch(gpu.stream().get());
    gpu.stream().synchronize();
    CHECK(on_device.outputs().check() == "");
  }
}

std::vector<std::int64_t> integers_of(const std::filesystem::path& path) {
  const tools::IntegerArray array = tools::read_npy(path);
  std::vector<std::int64_t> values;
  const auto size = static_cast<std::size_t>(size_of(array.type));
  for (std::size_t i = 0; i < array.bytes.size() / size; ++i) {
    values.push_back(load_integer(array.bytes.data() + i * size, array.type));
  }
  return values;
}

/// One of the traces of real ids.
struct Trace {
  std::string name;
  std::int64_t num_rows;
  ForwardSpec spec;
};

std::vector<Trace> traces() {
  const CsrBags bags{IntegerType::int32, OffsetsEnd::included};
  const auto spec = [&](std::int64_t dim, DataType type, const Poolings& pooling) {
    ForwardSpec made{.dim = dim, .bags = bags, .pooling = pooling, .table_type = type};
    made.id_type = IntegerType::int32;
    made.row_scale = fbgemm::inference_row();
    return made;
  };
  return {{"depends", 35'531, spec(128, DataType::float16, Pooling::sum)},
          {"suggests", 23'895, spec(64, DataType::int8, Pooling::mean)},
          {"tags", 599, spec(32, DataType::float32, {Pooling::mean, Pooling::max})},
          {"section", 60, spec(20, DataType::bfloat16, Pooling::sum)}};
}

TEST_CASE("the four traces of real ids are the tables of one launch") {
  if (!gpu_is_here()) return;
  const std::filesystem::path folder = JITBAG_TEST_TRACES;
  if (!std::filesystem::exists(folder)) {
    WARN("left out: " << folder << " is not there");
    return;
  }
  for (const auto bags : {Joining::separate, Joining::joined}) {
    TablesSpec spec{.tables = {}, .bags = bags, .outputs = Outputs::side_by_side, .expected = {}};
    std::vector<ForwardCase> tables;
    for (const Trace& trace : traces()) {
      const GivenBags given{integers_of(folder / (trace.name + "_indices.npy")),
                            integers_of(folder / (trace.name + "_offsets.npy"))};
      spec.tables.push_back(trace.spec);
      tables.push_back(
          make_forward_case({.spec = trace.spec,
                             .batch = static_cast<std::int64_t>(given.offsets.size()) - 1,
                             .num_rows = trace.num_rows,
                             .seed = seed()},
                            given));
    }
    TablesRun gpu;
    CHECK(gpu.check(gpu.engine().tables(spec), make_tables_case(spec, std::move(tables))) == "");
  }
}

}  // namespace
}  // namespace jitbag::test
