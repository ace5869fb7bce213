// One epoch of training on real ids, on the GPU where there is one and else on the CPU: which
// section is a package filed under, given what it depends on, suggests and is tagged with? The
// vectors of the three bags are added, and that of the right section should be nearer to the sum
// than that of a wrong one. Ids are hashed into tables smaller than their number; the tables take
// steps of row-wise Adagrad on the rows of each batch. On the GPU nothing is read back before the
// epoch is over.
//
// train_traces [FOLDER] [--device cuda|cpu|both]; both: and the losses of the two must agree.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "machine.hpp"
#include "section_model.hpp"
#include "step_times.hpp"
#include "trace_bags.hpp"

namespace {

using namespace jitbag;

/// A table, what its optimizer keeps, and what is read of it.
class Table {
 public:
  Table(Machine& machine, Pooling pooling, std::int64_t rows, const Bags& bags,
        std::mt19937& random)
      : machine_(machine),
        spec_{.forward = {.dim = dim,
                          .bags = CsrBags{IntegerType::int32},
                          .pooling = pooling,
                          .id_type = IntegerType::int32,
                          .id_alignment = sizeof(std::int32_t)},
              .table_gradient = AppliedGradient{Optimizer::row_wise_adagrad}},
        rows_(rows),
        first_ids_(bags.first_ids),
        ids_(machine.put(bags.ids)),
        offsets_(machine.put(bags.offsets)) {
    std::vector<float> values(static_cast<std::size_t>(rows * dim));
    std::normal_distribution<float> normal(0, 0.1f);
    for (float& value : values) value = normal(random);
    values_ = machine.put(values);
    moments_ = machine.put(std::vector<float>(static_cast<std::size_t>(rows)));
    parameters_ = machine.put(std::vector<OptimizerParameters>{{.learning_rate = 0.1f}});
    // A pooled row for each bag, or the two of a pair.
    output_ = machine.put(std::vector<float>(std::size_t{2} * batch * dim));
  }

  /// On the GPU, before the first batch.
  void make_kernels() {
    forward_ = &machine_.engine().forward(spec_.forward, {.expected_batch = batch});
    backward_ = &machine_.engine().backward(spec_, {.expected_batch = batch});
    std::int64_t bytes = 0;
    for (std::size_t number = 0; number + 1 < first_ids_.size(); ++number) {
      bytes = std::max(bytes, backward_->workspace_bytes(step_arguments(number, nullptr)));
    }
    workspace_ = device::Buffer(static_cast<std::size_t>(bytes));
  }

  [[nodiscard]] const float* output() const { return output_; }

  void forward(std::size_t number) const {
    if (!machine_.is_gpu()) return host::forward(spec_.forward, bags(number));
    forward_->launch(bags(number), machine_.stream());
  }

  void step(std::size_t number, const float* output_gradient) const {
    const BackwardArguments arguments = step_arguments(number, output_gradient);
    if (!machine_.is_gpu()) return host::backward(spec_, arguments);
    backward_->launch(arguments, machine_.stream());
  }

 private:
  /// Those of batch `number`.
  [[nodiscard]] ForwardArguments bags(std::size_t number) const {
    return {.table = values_,
            .num_rows = rows_,
            .ids = ids_ + first_ids_[number],
            .num_ids = first_ids_[number + 1] - first_ids_[number],
            .offsets = offsets_ + number * (batch + 1),
            .output = output_,
            .batch = batch};
  }

  [[nodiscard]] BackwardArguments step_arguments(std::size_t number,
                                                 const float* output_gradient) const {
    return {.forward = bags(number),
            .output_gradient = output_gradient,
            .updated_table = values_,
            .second_moment = moments_,
            .parameters = parameters_,
            .workspace = workspace_.data(),
            .workspace_bytes = static_cast<std::int64_t>(workspace_.size())};
  }

  Machine& machine_;
  BackwardSpec spec_;
  std::int64_t rows_;
  std::vector<std::int64_t> first_ids_;
  const std::int32_t *ids_, *offsets_;
  float *values_ = nullptr, *moments_ = nullptr, *output_ = nullptr;
  const OptimizerParameters* parameters_ = nullptr;
  const ForwardKernel* forward_ = nullptr;
  const BackwardKernel* backward_ = nullptr;
  device::Buffer workspace_;
};

constexpr std::array names = {"depends", "suggests", "tags", "sections"};
constexpr std::size_t tables = names.size();

/// The marks of a step: its begin, the end of each forward, of the loss, of each backward.
constexpr std::size_t first_forward = 0, loss = tables, first_backward = tables + 1,
                      end = 2 * tables + 1;

void print_times(const StepTimes& times) {
  std::printf("Microseconds of a batch (median)  forward  backward and step\n");
  for (std::size_t i = 0; i < tables; ++i) {
    std::printf("%32s  %7.1f  %17.1f\n", names[i],
                times.median_us(first_forward + i, first_forward + i + 1),
                times.median_us(first_backward + i, first_backward + i + 1));
  }
  std::printf("%32s  %7.1f  %17.1f\n", "all four", times.median_us(first_forward, loss),
              times.median_us(first_backward, end));
  std::printf("The loss and its gradients %.1f, everything %.1f.\n",
              times.median_us(loss, first_backward), times.median_us(first_forward, end));
}

/// The mean loss in each tenth of the epoch.
std::vector<double> mean_losses(const std::vector<float>& losses) {
  std::vector<double> means;
  const std::size_t tenth = losses.size() / 10;
  for (std::size_t first = 0; first + tenth <= losses.size(); first += tenth) {
    const auto begin = losses.begin() + static_cast<std::ptrdiff_t>(first);
    means.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(tenth), 0.0) /
                    static_cast<double>(tenth));
  }
  return means;
}

void make_kernels(Machine& machine, std::array<Table, tables>& all) {
  const auto start = std::chrono::steady_clock::now();
  for (Table& table : all) table.make_kernels();
  static_cast<void>(machine.engine().kernel(learn_kernel));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("All kernels, compiled or from the cache: %.2f s.\n", seconds.count());
}

std::vector<double> train(const std::string& folder, bool on_gpu) {
  std::printf("On the %s:\n", on_gpu ? "GPU" : "CPU");
  Machine machine(on_gpu);
  std::mt19937 random(1);
  const Ids sections = read(folder + "/section_indices.npy");
  // The catalogue is in alphabetical order, in which neighbours are alike.
  Ids order(sections.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  const std::size_t batches = order.size() / batch;
  order.resize(batches * batch);

  const auto pooled = [&](const char* name, std::int64_t rows) {
    return Table(machine, Pooling::mean, rows, trace(folder + "/" + name, order, rows, batch),
                 random);
  };
  std::array<Table, tables> all = {
      pooled("depends", 8192), pooled("suggests", 8192), pooled("tags", 512),
      Table(machine, Pooling::none, 64, section_pairs(sections, order, batch, random), random)};
  if (on_gpu) make_kernels(machine, all);
  const std::vector<float> pairs(std::size_t{2} * batch * dim);
  const Model model = {{all[0].output(), all[1].output(), all[2].output()},
                       all[3].output(),
                       machine.put(pairs),
                       machine.put(pairs)};
  float* const losses = machine.put(std::vector<float>(order.size()));

  StepTimes times(machine, end + 1);
  for (std::size_t number = 0; number < batches; ++number) {
    times.mark();
    for (const Table& table : all) {
      table.forward(number);
      times.mark();
    }
    learn_batch(machine, model, losses + number * batch);
    times.mark();
    for (const Table& table : all) {
      table.step(number, &table == &all[3] ? model.sections_gradient : model.pooled_gradient);
      times.mark();
    }
  }
  std::vector<double> means = mean_losses(machine.get(losses, order.size()));
  for (std::size_t i = 0; i < means.size(); ++i) {
    std::printf("%3zu %% of the epoch: loss %.3f\n", 10 * (i + 1), means[i]);
  }
  print_times(times);
  if (!(means.back() < 0.8 * means.front()))
    throw std::runtime_error("The loss has not fallen by a fifth.");
  return means;
}

void compare(const std::vector<double>& losses, const std::vector<double>& others) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!(std::abs(losses[i] - others[i]) <= 1e-3))
      throw std::runtime_error("The losses of GPU and CPU differ.");
  }
  std::printf("GPU and CPU have the same losses.\n");
}

}  // namespace

int main(int count, char** arguments) {
  std::string folder = "examples/traces", device = Machine::has_gpu() ? "cuda" : "cpu";
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--device" && i + 1 < count) {
      device = arguments[++i];
    } else {
      folder = argument;
    }
  }
  try {
    if (device != "cuda" && device != "cpu" && device != "both")
      throw std::runtime_error("The device is cuda, cpu or both, not " + device + ".");
    std::vector<std::vector<double>> losses;
    if (device != "cpu") losses.push_back(train(folder, true));
    if (device != "cuda") losses.push_back(train(folder, false));
    if (device == "both") compare(losses[0], losses[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_traces: %s\n", error.what());
    return 1;
  }
}
