// What quantised tables gain, as JSON: device time of means over 131072 bags of 64 uniform ids of
// ten million rows of 256 columns, for each type and layout of the table, over float16.
#include <cstdio>

#include "fixed_bags.hpp"

namespace {

using namespace jitbag;

constexpr bench::FixedShape shape{131072, 64, 256, 10'000'000, 0, {2, 1, 21}};

struct Layout {
  const char* name;
  DataType type;
  RowScale scale;
  std::int64_t row_stride;
};

RowScale apart(DataType type, bool has_bias) {
  return {RowScale::Place::apart, type, has_bias, 0, 0};
}

std::vector<Layout> layouts() {
  using enum DataType;
  return {{"float16", float16, {}, 0},
          {"int8, float16 scales apart", int8, apart(float16, false), 0},
          {"int8, float16 scales and biases apart", int8, apart(float16, true), 0},
          {"int8, float32 scales apart", int8, apart(float32, false), 0},
          {"int8, float32 scales and biases apart", int8, apart(float32, true), 0},
          {"int8, FBGEMM inference rows", int8, fbgemm::inference_row(), 272},
          {"int8, FBGEMM fused rows", int8, fbgemm::fused_8bit_row(shape.dim), 0},
          {"int4, float16 scales apart", int4, apart(float16, false), 0},
          {"int4, FBGEMM inference rows", int4, fbgemm::inference_row(), 144},
          {"float8_e4m3, float16 scales apart", float8_e4m3, apart(float16, false), 0},
          {"float8_e5m2, float16 scales apart", float8_e5m2, apart(float16, false), 0}};
}

}  // namespace

int main() {
  try {
    const device::Context context(0);
    Engine engine;
    const device::Buffer table = bench::random_halves(engine, shape.rows * shape.dim, 1);
    const device::Buffer scales = bench::random_halves(engine, shape.rows * 4, 2);
    const bench::RotatingBags bags(engine, shape, 2);
    std::vector<bench::Runner> runners;
    for (const Layout& layout : layouts()) {
      const ForwardKernel& kernel = engine.forward({.dim = shape.dim,
                                                    .bags = FixedBags{shape.bag_size},
                                                    .table_type = layout.type,
                                                    .row_scale = layout.scale,
                                                    .output_type = DataType::float16,
                                                    .id_type = IntegerType::int32,
                                                    .row_stride = layout.row_stride,
                                                    .addressing = Addressing::bits32},
                                                   {.expected_batch = shape.batch});
      runners.push_back({layout.name, [&](std::size_t set, Stream stream) {
                           ForwardArguments arguments = bags.arguments(set, table);
                           arguments.scales = scales.data();
                           kernel.launch(arguments, stream);
                         }});
    }
    std::printf("%s\n", bench::race(runners, shape.effort).dump(1).c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
