#include <algorithm>

#include "bench/backend.hpp"
#include "bench/device_time.hpp"
#include "bench/device_workload.hpp"
#include "bench/trainer.hpp"
#include "jitbag/device.hpp"

namespace jitbag::tools::bench {
namespace {

/// The kernels of a step.
struct StepKernels {
  const ForwardKernel* forward = nullptr;
  const BackwardKernel* backward = nullptr;
  const BackwardKernel* clearing = nullptr;  ///< where there is something to clear
};

StepKernels kernels_of(const Job& job, Engine& engine) {
  const Workload& workload = job.workload;
  const Training& training = *job.training;
  const auto batch = workload.batch;
  StepKernels kernels;
  kernels.forward = &engine.forward(
      workload.spec,
      {.strategy = choice_of(job.options, workload.spec.dim).strategy, .expected_batch = batch});
  kernels.backward = &engine.backward(training.backward, {.expected_batch = batch});
  if (training.clearing)
    kernels.clearing = &engine.backward(*training.clearing, {.expected_batch = batch});
  return kernels;
}

std::vector<KernelFacts> all_facts(const BackwardKernel& kernel) {
  std::vector<KernelFacts> all;
  for (const Kernel& one : kernel.kernels())
    all.push_back(facts(one.artifact(), to_text(kernel.strategy())));
  return all;
}

class JitTrainer : public Trainer {
 public:
  JitTrainer(const Training& training, const Workload& workload, const StepKernels& kernels,
             Engine& engine)
      : training_(training),
        workload_(workload),
        kernels_(kernels),
        engine_(engine),
        bytes_(training, workload),
        data_(workload),
        gradient_(device_buffer(training.applied() != nullptr ? 0 : bytes_.gradient)),
        rows_(device_buffer(bytes_.rows)),
        first_moment_(device_buffer(bytes_.first_moment)),
        second_moment_(device_buffer(bytes_.second_moment)),
        count_(device_buffer(sizeof(SparseCount))),
        parameters_(device_buffer(sizeof(OptimizerParameters))) {
    for (std::size_t set = 0; set < workload.sets(); ++set) {
      winners_.push_back(device_buffer(bytes_.winners));
      output_gradients_.push_back(uploaded(training.output_gradient));
    }
    device::copy_to_device(parameters_.data(), &step_parameters, sizeof step_parameters);
    data_.poison(0, stream_.get());
    fill(gradient_, 0);
    fill(first_moment_, 0);
    fill(second_moment_, second_moment_byte);
    const BackwardArguments needed = arguments(0);
    workspace_ = device_buffer(kernels.backward->workspace_bytes(needed));
  }

  [[nodiscard]] const device::OwnedStream& stream() const { return stream_; }

  void run(PartKind part, std::size_t set) override {
    switch (part) {
      case PartKind::zero:
        fill(gradient_, 0);
        break;
      case PartKind::forward:
        kernels_.forward->launch(bags(set), stream_.get());
        break;
      case PartKind::backward:
      case PartKind::backward_and_step:
        kernels_.backward->launch(arguments(set), stream_.get());
        break;
      case PartKind::clear:
        kernels_.clearing->launch(arguments(set), stream_.get());
        break;
    }
  }

  [[nodiscard]] const TrainingState& state() override {
    stream_.synchronize();
    engine_.check();
    state_.output = data_.output(0);
    state_.winners = downloaded(winners_[0], bytes_.winners);
    state_.gradient =
        training_.applied() != nullptr ? data_.table_now() : downloaded(gradient_, bytes_.gradient);
    state_.rows = downloaded(rows_, bytes_.rows);
    device::copy_to_host(&state_.count, count_.data(), sizeof state_.count);
    return state_;
  }

 private:
  void fill(const device::Buffer& buffer, std::uint8_t value) const {
    device::fill_bytes(buffer.data(), value, buffer.size(), stream_.get());
  }

  [[nodiscard]] ForwardArguments bags(std::size_t set) const {
    ForwardArguments bags = data_.arguments(set);
    bags.winners = winners_[set].data();
    return bags;
  }

  [[nodiscard]] BackwardArguments arguments(std::size_t set) const {
    return {.forward = bags(set),
            .output_gradient = output_gradients_[set].data(),
            .table_gradient = gradient_.data(),
            .capacity = sparse_capacity(workload_),
            .rows = rows_.data(),
            .count = static_cast<SparseCount*>(count_.data()),
            .updated_table = data_.table(),
            .first_moment = static_cast<float*>(first_moment_.data()),
            .second_moment = static_cast<float*>(second_moment_.data()),
            .parameters = static_cast<const OptimizerParameters*>(parameters_.data()),
            .workspace = workspace_.data(),
            .workspace_bytes = static_cast<std::int64_t>(workspace_.size())};
  }

  const Training& training_;
  const Workload& workload_;
  StepKernels kernels_;
  Engine& engine_;
  TrainingBytes bytes_;
  DeviceWorkload data_;
  device::Buffer gradient_, rows_, first_moment_, second_moment_, count_, parameters_, workspace_;
  std::vector<device::Buffer> winners_, output_gradients_;
  device::OwnedStream stream_;
  TrainingState state_;
};

void add_facts(std::vector<Part>& parts, const StepKernels& kernels) {
  for (Part& part : parts) {
    if (part.kind == PartKind::forward)
      part.kernels = {facts(kernels.forward->artifact(), to_text(kernels.forward->strategy()))};
    if (part.kind == PartKind::backward || part.kind == PartKind::backward_and_step)
      part.kernels = all_facts(*kernels.backward);
    if (part.kind == PartKind::clear) part.kernels = all_facts(*kernels.clearing);
  }
}

}  // namespace

Result run_jit_training(const Job& job, Engine& engine) {
  const Workload& workload = job.workload;
  const StepKernels kernels = kernels_of(job, engine);
  JitTrainer trainer(*job.training, workload, kernels, engine);
  Result result;
  result.backend = "jit";
  result.resolved_backend = "jit:" + to_text(device::devices().front().target);
  result.kernel = facts(kernels.forward->artifact(), to_text(kernels.forward->strategy()));
  result.parts = parts_of(*job.training);
  add_facts(result.parts, kernels);
  if (!check_step(result, job, trainer)) return result;

  const auto step = [&](std::size_t set) {
    for (const Part& part : result.parts) trainer.run(part.kind, set);
  };
  const device::OwnedStream& stream = trainer.stream();
  result.elapsed_sec =
      time_repeats(job.options, workload.sets(), job.progress, step, [&] { stream.synchronize(); });
  for (Part& part : result.parts)
    part.device_time = measure_device([&](std::size_t set) { trainer.run(part.kind, set); },
                                      workload.sets(), stream);
  result.device_time = measure_device(step, workload.sets(), stream);
  result.host_time_us = measure_host_us(step, workload.sets(), stream);
  return result;
}

}  // namespace jitbag::tools::bench
