#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "jitbag/jitbag.hpp"

/// Device times of several ways to do one piece of work, on the same buffers and taking turns, so
/// that what changes on the machine changes for all of them.
namespace jitbag::bench {

/// One way: `launch` enqueues the work for one of the rotating sets of inputs.
struct Runner {
  std::string name;
  std::function<void(std::size_t set, Stream stream)> launch;
};

/// How long to measure: each round replays every runner's graph of one launch for each set.
struct Effort {
  std::size_t sets = 30;
  int replays = 10;
  int rounds = 31;
};

inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

/// Microseconds for each launch, and over the first runner of the same round: the ratio of a round
/// is free of what drifts from one round to the next.
inline nlohmann::json race(const std::vector<Runner>& runners, const Effort& effort) {
  const device::OwnedStream stream;
  std::vector<std::unique_ptr<device::Graph>> graphs;
  for (const Runner& runner : runners) {
    graphs.push_back(std::make_unique<device::Graph>(stream.get(), [&] {
      for (std::size_t set = 0; set < effort.sets; ++set) runner.launch(set, stream.get());
    }));
  }
  std::vector<std::vector<double>> times(runners.size());
  std::vector<std::vector<double>> ratios(runners.size());
  device::Event start;
  device::Event stop;
  for (int round = 0; round < effort.rounds; ++round) {
    for (std::size_t turn = 0; turn < runners.size(); ++turn) {
      // Whoever is first in one round is last in another.
      const std::size_t number = (turn + static_cast<std::size_t>(round)) % runners.size();
      graphs[number]->launch(stream.get());
      start.record(stream.get());
      for (int replay = 0; replay < effort.replays; ++replay) graphs[number]->launch(stream.get());
      stop.record(stream.get());
      times[number].push_back(device::Event::elapsed_ms(start, stop) * 1000 /
                              (effort.replays * static_cast<double>(effort.sets)));
    }
    for (std::size_t number = 0; number < runners.size(); ++number) {
      ratios[number].push_back(times[number].back() / times[0].back());
    }
  }
  nlohmann::json result = nlohmann::json::object();
  for (std::size_t number = 0; number < runners.size(); ++number) {
    result[runners[number].name] = {
        {"us_median", quantile(times[number], 0.5)},
        {"us_p95", quantile(times[number], 0.95)},
        {"over_" + runners[0].name + "_median", quantile(ratios[number], 0.5)},
        {"over_" + runners[0].name + "_p95", quantile(ratios[number], 0.95)}};
  }
  return result;
}

}  // namespace jitbag::bench
