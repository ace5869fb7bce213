#pragma once

#include <vector>

#include "bench/backend.hpp"
#include "bench/training.hpp"

namespace jitbag::tools::bench {

/// How a backend trains.
class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  virtual ~Trainer() = default;

  /// Does a part of a step on the rotating set of that number, or enqueues it.
  virtual void run(PartKind part, std::size_t set) = 0;

  /// What is there after steps on the first set, all that was enqueued being done.
  [[nodiscard]] virtual const TrainingState& state() = 0;
};

/// The parts of a step, in order.
[[nodiscard]] std::vector<Part> parts_of(const Training& training);

/// Runs a step on the first set, and compares what it writes with the oracle. Sets the accuracies
/// of the result and its parts, and the status when something is wrong. True when all is right.
[[nodiscard]] bool check_step(Result& result, const Job& job, Trainer& trainer);

}  // namespace jitbag::tools::bench
