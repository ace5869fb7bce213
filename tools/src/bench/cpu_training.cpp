#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cstring>

#include "bench/backend.hpp"
#include "bench/trainer.hpp"
#include "jitbag/host.hpp"
#include "machine.hpp"

namespace jitbag::tools::bench {
namespace {

HostBuffer filled(std::int64_t bytes, std::uint8_t value) {
  HostBuffer buffer(bytes);
  if (bytes > 0) std::memset(buffer.data(), value, buffer.size());
  return buffer;
}

HostBuffer copy_of(const HostBuffer& original) {
  HostBuffer copy(static_cast<std::int64_t>(original.size()));
  if (original.size() > 0) std::memcpy(copy.data(), original.data(), original.size());
  return copy;
}

class CpuTrainer : public Trainer {
 public:
  CpuTrainer(const Training& training, const Workload& workload, int threads)
      : training_(training),
        workload_(workload),
        threads_(threads),
        bytes_(training, workload),
        first_moment_(filled(bytes_.first_moment, 0)),
        second_moment_(filled(bytes_.second_moment, second_moment_byte)) {
    constexpr std::uint8_t all_ones = 0xFF;
    state_.output = filled(workload.output_bytes(), all_ones);
    state_.winners = filled(bytes_.winners, all_ones);
    state_.gradient =
        training.applied() != nullptr ? copy_of(workload.table->rows) : filled(bytes_.gradient, 0);
    state_.rows = filled(bytes_.rows, all_ones);
  }

  void run(PartKind part, std::size_t set) override {
    switch (part) {
      case PartKind::zero:
        std::memset(state_.gradient.data(), 0, state_.gradient.size());
        break;
      case PartKind::forward:
        host::forward(workload_.spec, bags(set), threads_);
        break;
      case PartKind::backward:
      case PartKind::backward_and_step:
        host::backward(training_.backward, arguments(set), threads_);
        break;
      case PartKind::clear:
        host::backward(*training_.clearing, arguments(set), threads_);
        break;
    }
  }

  [[nodiscard]] const TrainingState& state() override { return state_; }

 private:
  [[nodiscard]] ForwardArguments bags(std::size_t set) const {
    ForwardArguments bags = workload_.arguments(set, state_.output.data());
    if (training_.applied() != nullptr) bags.table = state_.gradient.data();
    bags.winners = state_.winners.data();
    return bags;
  }

  [[nodiscard]] BackwardArguments arguments(std::size_t set) {
    return {.forward = bags(set),
            .output_gradient = training_.output_gradient.data(),
            .table_gradient = state_.gradient.data(),
            .capacity = sparse_capacity(workload_),
            .rows = state_.rows.data(),
            .count = &state_.count,
            .updated_table = state_.gradient.data(),
            .first_moment = reinterpret_cast<float*>(first_moment_.data()),
            .second_moment = reinterpret_cast<float*>(second_moment_.data()),
            .parameters = &step_parameters};
  }

  const Training& training_;
  const Workload& workload_;
  int threads_;
  TrainingBytes bytes_;
  TrainingState state_;
  HostBuffer first_moment_;
  HostBuffer second_moment_;
};

}  // namespace

Result run_cpu_training(const Job& job) {
  const int threads = processor_threads();
  CpuTrainer trainer(*job.training, job.workload, threads);
  Result result;
  result.backend = "cpu";
  result.resolved_backend = fmt::format("cpu:{} threads", threads);
  result.parts = parts_of(*job.training);
  if (!check_step(result, job, trainer)) return result;

  const auto step = [&](std::size_t set) {
    for (Part& part : result.parts) {
      const auto start = std::chrono::steady_clock::now();
      trainer.run(part.kind, set);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      part.step_times_ms.push_back(took.count());
    }
  };
  result.elapsed_sec = time_repeats(job.options, job.workload.sets(), job.progress, step, [] {});
  for (Part& part : result.parts)
    part.step_times_ms.erase(part.step_times_ms.begin(),
                             part.step_times_ms.begin() + job.options.warmup_steps);
  return result;
}

}  // namespace jitbag::tools::bench
