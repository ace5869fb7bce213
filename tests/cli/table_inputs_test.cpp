#include "bench/table_inputs.hpp"

#include <bit>
#include <fstream>

#include "bench/gather_ceiling.hpp"
#include "bench/sampled_bags.hpp"
#include "bench/workload.hpp"
#include "catch.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/host.hpp"
#include "support/temporary_folder.hpp"

namespace jitbag::tools::bench {
namespace {

TableInputs inputs_of(const std::string& json, const std::string& layout) {
  const test::TemporaryFolder folder;
  Options options;
  options.tables = folder.file("tables.json");
  options.layout = layout;
  options.batch = 70;
  std::ofstream(options.tables) << json;
  return table_inputs(options);
}

/// What the device's memory would hold, all of it.
struct HostTables {
  explicit HostTables(const TableInputs& inputs) : offsets(inputs.joined_offsets()) {
    for (std::size_t t = 0; t < inputs.tables.size(); ++t) {
      const TableInput& input = inputs.tables[t];
      const ForwardSpec& spec = inputs.spec.tables[t];
      rows.emplace_back(input.num_rows * row_stride_bytes(spec));
      scales.emplace_back(input.num_rows * scale_bytes(spec));
      for (std::int64_t row = 0; row < input.num_rows; ++row)
        write_row(input.rows, row, row, rows[t].data(), scales[t].data());
      for (std::int64_t i = 0; i < input.num_ids; ++i) ids.push_back(inputs.id_at(t, 0, i));
      tables.push_back(
          {.table = rows[t].data(), .num_rows = input.num_rows, .scales = scales[t].data()});
    }
    if (!inputs.spec.tables.front().weight_type) return;
    for (std::int64_t i = 0; i < inputs.num_ids; ++i) {
      const auto bits = static_cast<std::uint32_t>(
          number_at(weights_of(DataType::float32), inputs.weight_stream(0), i));
      weights.push_back(std::bit_cast<float>(bits));
    }
  }

  std::vector<HostBuffer> rows;
  std::vector<HostBuffer> scales;
  std::vector<ForwardArguments> tables;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> offsets;
  std::vector<float> weights;
};

void check_sampled_bags(const std::string& json, const std::string& layout) {
  const TableInputs inputs = inputs_of(json, layout);
  const HostTables host(inputs);
  std::vector<float> output(static_cast<std::size_t>(inputs.batch * inputs.output_width));
  host::forward(inputs.spec, host.tables,
                {.ids = host.ids.data(),
                 .num_ids = inputs.num_ids,
                 .offsets = host.offsets.data(),
                 .weights = host.weights.data(),
                 .output = output.data(),
                 .batch = inputs.batch},
                1);
  std::int64_t column = 0;
  for (std::size_t t = 0; t < inputs.tables.size(); ++t) {
    const SampledBags sampled(inputs, t, 64);
    const std::int64_t width = output_width(inputs.spec.tables[t]);
    const std::vector<double> expected = sampled.expected();
    REQUIRE(sampled.bags().size() == 64);
    CHECK(sampled.bags().front() == 0);
    CHECK(sampled.bags().back() == inputs.batch - 1);
    for (std::size_t i = 0; i < sampled.bags().size(); ++i) {
      INFO(layout << " table " << t << " bag " << sampled.bags()[i]);
      const std::int64_t first = sampled.bags()[i] * inputs.output_width + column;
      const Accuracy accuracy =
          compare(&output[static_cast<std::size_t>(first)], DataType::float32,
                  std::span(expected).subspan(i * static_cast<std::size_t>(width),
                                              static_cast<std::size_t>(width)),
                  width, {1e-5, 1e-5});
      REQUIRE(accuracy.wrong == 0);
    }
    column += width;
  }
}

}  // namespace

TEST_CASE("sampled bags are those of the whole set, for every layout and kind of table") {
  const std::string sets[] = {
      R"({"embedding_dim": 8, "pooling": "sum", "tables": [
           {"table_rows": 3, "embedding_bag_size": 1},
           {"table_rows": 1000, "embedding_bag_size": 5, "embedding_dim": 16, "pooling": "mean+max"},
           {"table_rows": 50, "embedding_bag_size": 0},
           {"table_rows": 90, "embedding_bag_size": 3, "table_type": "int8", "row_scale": "apart+bias"},
           {"table_rows": 90, "embedding_bag_size": 2, "table_type": "int4",
            "row_scale": "fbgemm_inference"}]})",
      R"({"embedding_dim": 12, "weight_type": "float32", "padding_id": 1, "tables": [
           {"table_rows": 4, "embedding_bag_size": 6, "pooling": "mean_by_weights"},
           {"table_rows": 500, "embedding_bag_size": 2, "pooling": "sum", "table_type": "float16"}]})",
  };
  for (const std::string& set : sets) {
    check_sampled_bags(set, "fixed");
    check_sampled_bags(set, "csr");
  }
}

TEST_CASE("ids that are made differ from set to set and from table to table") {
  const TableInputs inputs = inputs_of(
      R"({"embedding_dim": 8, "embedding_bag_size": 4, "tables": [{"table_rows": 1000, "count": 2}]})",
      "fixed");
  const auto ids = [&](std::size_t table, std::size_t set) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < inputs.tables[table].num_ids; ++i)
      all.push_back(inputs.id_at(table, set, i));
    return all;
  };
  CHECK(ids(0, 0) == ids(0, 0));
  CHECK(ids(0, 0) != ids(0, 1));
  CHECK(ids(0, 0) != ids(1, 0));
}

TEST_CASE("the kernels that the benchmark brings compile") {
  if (!compiler::find()) return;
  Engine engine({.cache = cache::CacheOptions{}});
  std::vector<KernelTemplate> all = {gathering_kernel(8),
                                     writing_kernel(random_integers(IntegerType::int32, 7)),
                                     writing_kernel(weights_of(DataType::bfloat16))};
  for (const RowPart& part : row_parts(
           validated({.dim = 8, .table_type = DataType::int8, .row_scale = {.has_bias = true}}), 1))
    all.push_back(writing_kernel(part.numbers));
  for (const KernelTemplate& kernel : all) {
    const Artifact artifact = engine.artifact(specialise(kernel, Target{9, 0}));
    CHECK(artifact.entry == kernel.entry);
    CHECK(artifact.spill_bytes == 0);
  }
}

}  // namespace jitbag::tools::bench
