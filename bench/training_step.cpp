// A training step with a dense float32 gradient, as JSON: device time of zeroing the gradient, of
// forward, of backward, of the three together, and of a step whose gradient is kept and cleared
// row by row, over that of zeroing alone.
#include <cstdio>

#include "fixed_bags.hpp"

namespace {

using namespace jitbag;

nlohmann::json times(Engine& engine, const bench::FixedShape& shape) {
  const ForwardSpec spec = {.dim = shape.dim,
                            .bags = FixedBags{shape.bag_size},
                            .id_type = IntegerType::int32,
                            .padding_id = 0,
                            .addressing = Addressing::bits32};
  // Halves in pairs are float32 numbers as well.
  const device::Buffer table = bench::random_halves(engine, shape.rows * shape.dim * 2, 1);
  const device::Buffer gradient(static_cast<std::size_t>(shape.rows * shape.dim * 4));
  const device::Buffer output_gradient =
      bench::random_halves(engine, shape.batch * shape.dim * 2, 2);
  const bench::RotatingBags bags(engine, shape, 4);
  const ForwardChoice choice = {.expected_batch = shape.batch};
  const ForwardKernel& forward = engine.forward(spec, choice);
  const BackwardChoice backward_choice = {.expected_batch = shape.batch};
  const BackwardKernel& backward = engine.backward({.forward = spec}, backward_choice);

  const BackwardKernel& clearing =
      engine.backward({.forward = spec, .table_gradient = ClearedGradient{}}, backward_choice);

  const auto clear = [&](std::size_t, Stream stream) {
    device::fill_bytes(gradient.data(), 0, gradient.size(), stream);
  };
  const auto pool = [&](std::size_t set, Stream stream) {
    forward.launch(bags.arguments(set, table), stream);
  };
  const auto scatter = [&](std::size_t set, Stream stream) {
    backward.launch({.forward = bags.arguments(set, table),
                     .output_gradient = output_gradient.data(),
                     .table_gradient = gradient.data()},
                    stream);
  };
  const auto step = [&](std::size_t set, Stream stream) {
    clear(set, stream);
    pool(set, stream);
    scatter(set, stream);
  };
  const auto clear_rows = [&](std::size_t set, Stream stream) {
    clearing.launch({.forward = bags.arguments(set, table), .table_gradient = gradient.data()},
                    stream);
  };
  const auto step_with_kept_gradient = [&](std::size_t set, Stream stream) {
    pool(set, stream);
    scatter(set, stream);
    clear_rows(set, stream);
  };
  nlohmann::json result = bench::race({{"zero", clear},
                                       {"forward", pool},
                                       {"backward", scatter},
                                       {"clear_rows", clear_rows},
                                       {"step", step},
                                       {"step_with_kept_gradient", step_with_kept_gradient}},
                                      shape.effort);
  result["shape"] = bench::to_json(shape);
  result["strategy"] = to_text(backward.strategy());
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
        report.push_back(times(engine, {8192, bag_size, dim, 1'000'000, 0.25, {30, 3, 31}}));
      }
    }
    report.push_back(times(engine, {65536, 16, 128, 1'000'000, 0, {4, 3, 31}}));
    std::printf("%s\n", report.dump(1).c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
