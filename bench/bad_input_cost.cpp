// What looking for bad ids costs, as JSON: device time under BadIds::skip and ::report over that
// under ::trust, for the seed sweep and for a large gather. There is no bad id among them.
#include <cstdio>

#include "fixed_bags.hpp"

namespace {

using namespace jitbag;

nlohmann::json cost(Engine& engine, const bench::FixedShape& shape) {
  const device::Buffer table = bench::random_halves(engine, shape.rows * shape.dim, 1);
  const bench::RotatingBags bags(engine, shape, 2);
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
                         kernel.launch(bags.arguments(set, table), stream);
                       }});
  }
  nlohmann::json result = bench::race(runners, shape.effort);
  result["shape"] = bench::to_json(shape);
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
