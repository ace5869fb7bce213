// What looking for bad ids costs, as JSON: device time under BadIds::skip and ::report over that
// under ::trust, for the seed sweep and for a large gather. There is no bad id among them.
#include <cstdio>

#include "device_data.hpp"
#include "race.hpp"

namespace {

using namespace jitbag;

struct Shape {
  std::int64_t batch, bag_size, dim, rows;
  double padding;
  bench::Effort effort;
};

nlohmann::json cost(Engine& engine, const Shape& shape) {
  const device::Buffer table = bench::random_halves(engine, shape.rows * shape.dim, 1);
  std::vector<device::Buffer> ids;
  std::vector<device::Buffer> outputs;
  for (std::size_t set = 0; set < shape.effort.sets; ++set) {
    ids.push_back(bench::random_ids(engine, shape.batch * shape.bag_size, shape.rows, shape.padding,
                                    static_cast<std::int64_t>(set) + 2));
    outputs.emplace_back(static_cast<std::size_t>(shape.batch * shape.dim * 2));
  }
  std::vector<bench::Runner> runners;
  for (const BadIds policy : {BadIds::trust, BadIds::skip, BadIds::report}) {
    const ForwardKernel& kernel = engine.forward({.dim = shape.dim,
                                                  .bags = FixedBags{shape.bag_size},
                                                  .table_type = DataType::float16,
                                                  .output_type = DataType::float16,
                                                  .id_type = IntegerType::int32,
                                                  .padding_id = 0,
                                                  .bad_ids = policy,
                                                  .addressing = Addressing::bits32},
                                                 {.expected_batch = shape.batch});
    runners.push_back({std::string(name(policy)), [&](std::size_t set, Stream stream) {
                         kernel.launch({.table = table.data(),
                                        .num_rows = shape.rows,
                                        .ids = ids[set].data(),
                                        .output = outputs[set].data(),
                                        .batch = shape.batch},
                                       stream);
                       }});
  }
  nlohmann::json result = bench::race(runners, shape.effort);
  result["shape"] = {{"batch", shape.batch},
                     {"bag_size", shape.bag_size},
                     {"dim", shape.dim},
                     {"rows", shape.rows}};
  return result;
}

}  // namespace

int main() {
  try {
    const device::Context context(0);
    Engine engine;
    nlohmann::json report = nlohmann::json::array();
    for (const std::int64_t dim : {32, 64, 128}) {
      for (const std::int64_t bag_size : {1, 2, 4, 8}) {
        report.push_back(cost(engine, {8192, bag_size, dim, 1'000'001, 0.25, {30, 10, 61}}));
      }
    }
    report.push_back(cost(engine, {131072, 64, 128, 10'000'000, 0, {2, 3, 31}}));
    std::printf("%s\n", report.dump(1).c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
