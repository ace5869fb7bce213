#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/cache/explain.hpp"
#include "jitbag/engine.hpp"
#include "kernel_request.hpp"

namespace jitbag::tools {

/// Something that differs between the kernel asked for and the nearest record: a field of the key,
/// or a constant in its source. An empty side does not have it.
struct NamedDifference {
  std::string name;
  std::string wanted;
  std::string found;
  bool operator==(const NamedDifference&) const = default;
};

/// Names what differs: "constexpr int dim = 64;" and "constexpr int dim = 128;" become dim, 64 and
/// 128. Comments say nothing that the constants do not, and are left out.
[[nodiscard]] std::vector<NamedDifference> named(const std::vector<cache::Difference>& differences);

/// Why a kernel is a hit or a miss.
struct Why {
  using Time = std::chrono::system_clock::time_point;

  std::optional<Artifact> artifact;                     ///< a hit
  std::optional<Time> since;                            ///< when the file that has it was written
  std::optional<cache::NearestRecord::Answer> nearest;  ///< a miss with a record to compare with
};
/// Compiles nothing.
[[nodiscard]] Why why(Engine& engine, const Specialisation& specialisation);

void print_why(const Why& why, const KernelRequest& request, bool json);

}  // namespace jitbag::tools
