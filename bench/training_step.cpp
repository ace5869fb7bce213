// A training step with float32 rows, as JSON: device time of zeroing a dense gradient, of forward,
// of each kind of backward, and of whole steps, over that of zeroing alone.
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include "fixed_bags.hpp"

namespace {

using namespace jitbag;

/// Everything that the kinds of backward work on, in one place for each.
class Gradients {
 public:
  Gradients(Engine& engine, const bench::FixedShape& shape)
      : shape_(shape),
        // Halves in pairs are float32 numbers as well.
        table_(bench::random_halves(engine, shape.rows * shape.dim * 2, 1)),
        output_gradient_(bench::random_halves(engine, shape.batch * shape.dim * 2, 2)),
        gradient_(bytes(shape.rows * shape.dim)),
        sparse_(bytes(shape.batch * shape.bag_size * shape.dim)),
        rows_(bytes(shape.batch * shape.bag_size)),
        moments_(bytes(shape.rows)),
        count_(sizeof(SparseCount)),
        parameters_(sizeof(OptimizerParameters)),
        bags_(engine, shape, 4) {
    const OptimizerParameters parameters;
    device::copy_to_device(parameters_.data(), &parameters, sizeof parameters);
    device::fill_bytes(moments_.data(), 0, moments_.size(), nullptr);
  }

  [[nodiscard]] device::Buffer& gradient() { return gradient_; }
  [[nodiscard]] ForwardArguments bags(std::size_t set) const {
    return bags_.arguments(set, table_);
  }

  [[nodiscard]] BackwardArguments arguments(std::size_t set) const {
    BackwardArguments arguments;
    arguments.forward = bags(set);
    arguments.output_gradient = output_gradient_.data();
    arguments.table_gradient = gradient_.data();
    arguments.updated_table = table_.data();
    arguments.rows = rows_.data();
    arguments.count = static_cast<SparseCount*>(count_.data());
    arguments.second_moment = static_cast<float*>(moments_.data());
    arguments.parameters = static_cast<const OptimizerParameters*>(parameters_.data());
    return arguments;
  }

  [[nodiscard]] BackwardArguments sparse_arguments(std::size_t set) const {
    BackwardArguments with = arguments(set);
    with.table_gradient = sparse_.data();
    with.capacity = shape_.batch * shape_.bag_size;
    return with;
  }

 private:
  static std::size_t bytes(std::int64_t floats) { return static_cast<std::size_t>(floats) * 4; }

  bench::FixedShape shape_;
  device::Buffer table_, output_gradient_, gradient_, sparse_, rows_, moments_, count_, parameters_;
  bench::RotatingBags bags_;
};

nlohmann::json times(Engine& engine, const bench::FixedShape& shape) {
  const ForwardSpec spec = {
      .dim = shape.dim,
      .bags = FixedBags{shape.bag_size},
      .id_type = IntegerType::int32,
      .padding_id = shape.padding > 0 ? std::optional<std::int64_t>{0} : std::nullopt,
      .addressing = Addressing::bits32};
  Gradients gradients(engine, shape);
  const ForwardKernel& forward = engine.forward(spec, {.expected_batch = shape.batch});
  const auto backward = [&](const TableGradient& gradient, BackwardMethod method) {
    const BackwardSpec of = {.forward = spec, .table_gradient = gradient};
    const BackwardStrategy strategy =
        default_strategy(of, method, device::devices().front().target, shape.batch);
    return &engine.backward(of, {.strategy = strategy});
  };
  const auto* const scatter = backward(DenseGradient{}, BackwardMethod::scatter);
  const auto* const clearing = backward(ClearedGradient{}, BackwardMethod::scatter);
  const auto* const merged = backward(DenseGradient{}, BackwardMethod::merge);
  const auto* const sorted = backward(DenseGradient{}, BackwardMethod::sort);
  const auto* const sparse = backward(SparseGradient{}, BackwardMethod::sort);
  const auto* const applied =
      backward(AppliedGradient{Optimizer::row_wise_adagrad}, BackwardMethod::sort);
  const device::Buffer workspace(
      static_cast<std::size_t>(sparse->workspace_bytes(gradients.arguments(0))));
  const auto launch = [&](const BackwardKernel* kernel, BackwardArguments with, Stream stream) {
    with.workspace = workspace.data();
    with.workspace_bytes = static_cast<std::int64_t>(workspace.size());
    kernel->launch(with, stream);
  };

  const auto zero = [&](std::size_t, Stream stream) {
    device::fill_bytes(gradients.gradient().data(), 0, gradients.gradient().size(), stream);
  };
  const auto pool = [&](std::size_t set, Stream stream) {
    forward.launch(gradients.bags(set), stream);
  };
  const auto with = [&](const BackwardKernel* kernel) {
    return [&, kernel](std::size_t set, Stream stream) {
      launch(kernel, kernel == sparse ? gradients.sparse_arguments(set) : gradients.arguments(set),
             stream);
    };
  };
  using Launch = std::function<void(std::size_t, Stream)>;
  const auto all_of = [](std::vector<Launch> parts) {
    return [parts](std::size_t set, Stream stream) {
      for (const Launch& part : parts) part(set, stream);
    };
  };
  nlohmann::json result =
      bench::race({{"zero", zero},
                   {"forward", pool},
                   {"backward", with(scatter)},
                   {"backward_merged", with(merged)},
                   {"clear_rows", with(clearing)},
                   {"backward_sorted", with(sorted)},
                   {"backward_sparse", with(sparse)},
                   {"backward_applied", with(applied)},
                   {"step", all_of({zero, pool, with(scatter)})},
                   {"step_with_kept_gradient", all_of({pool, with(scatter), with(clearing)})},
                   {"step_sparse", all_of({pool, with(sparse)})},
                   {"step_applied", all_of({pool, with(applied)})}},
                  shape.effort);
  result["shape"] = bench::to_json(shape);
  result["strategies"] = {{"scatter", to_text(scatter->strategy())},
                          {"merge", to_text(merged->strategy())},
                          {"sort", to_text(sorted->strategy())},
                          {"applied", to_text(applied->strategy())}};
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
        report.push_back(times(engine, {8192, bag_size, dim, 1'000'000, 0.25, {30, 3, 21}}));
      }
    }
    for (const std::int64_t dim : {32, 64, 128}) {
      report.push_back(times(engine, {8192, 8, dim, 1'000'000, 0, {30, 3, 21}, 1.15}));
    }
    report.push_back(times(engine, {65536, 16, 128, 1'000'000, 0, {4, 3, 21}}));
    report.push_back(times(engine, {65536, 64, 128, 10'000'000, 0, {2, 2, 11}, 1.15}));
    report.push_back(times(engine, {65536, 64, 32, 10'000'000, 0, {2, 2, 11}, 1.05}));
    std::printf("%s\n", report.dump(1).c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
