#include "bench/trainer.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "bench/gradient_check.hpp"

namespace jitbag::tools::bench {
namespace {

/// The larger errors of the two; a NaN is the largest.
Accuracy worse(const Accuracy& a, const Accuracy& b) {
  const auto larger = [](double x, double y) { return std::isnan(x) || x > y ? x : y; };
  Accuracy both = a;
  both.max_abs_error = larger(a.max_abs_error, b.max_abs_error);
  both.max_rel_error = larger(a.max_rel_error, b.max_rel_error);
  return both;
}

/// Takes the accuracy of a part into the result. True when it is right.
bool note_part(Result& result, Part& part, const Accuracy& accuracy, std::size_t elements,
               const Tolerance& limits) {
  const Accuracy before = result.accuracy.value_or(Accuracy{});
  part.accuracy = accuracy;
  result.accuracy = accuracy;
  const bool is_right = note_accuracy(result, elements, limits);
  if (!is_right) result.error = fmt::format("{}: {}", name(part.kind), result.error);
  result.accuracy = worse(accuracy, before);
  return is_right;
}

bool check_forward(Result& result, const Job& job, const TrainingState& state) {
  const bool is_right = check_output(result, job, state.output.data());
  const auto forward = std::ranges::find(result.parts, PartKind::forward, &Part::kind);
  forward->accuracy = result.accuracy;
  return is_right;
}

}  // namespace

std::vector<Part> parts_of(const Training& training) {
  std::vector<Part> parts;
  if (training.begins_from_zero) parts.push_back({PartKind::zero});
  parts.push_back({PartKind::forward});
  const bool steps = training.applied() != nullptr;
  parts.push_back({steps ? PartKind::backward_and_step : PartKind::backward});
  if (training.clearing) parts.push_back({PartKind::clear});
  return parts;
}

bool check_step(Result& result, const Job& job, Trainer& trainer) {
  const Training& training = *job.training;
  const Tolerance limits = gradient_tolerance(job.options, training);
  for (Part& part : result.parts) {
    trainer.run(part.kind, 0);
    // Forward is compared when backward has read its winners.
    if (part.kind == PartKind::zero || part.kind == PartKind::forward) continue;
    const TrainingState& state = trainer.state();
    const bool is_cleared = part.kind == PartKind::clear;
    if (!is_cleared && !check_forward(result, job, state)) return false;
    const Accuracy accuracy = is_cleared ? compare_cleared(training, state)
                                         : compare_gradient(training, job.workload, state, limits);
    const auto element = static_cast<std::size_t>(size_of(training.type()));
    if (!note_part(result, part, accuracy, state.gradient.size() / element, limits)) return false;
  }
  return true;
}

}  // namespace jitbag::tools::bench
