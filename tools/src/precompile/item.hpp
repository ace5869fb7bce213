#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "jitbag/engine.hpp"
#include "kernel_request.hpp"

namespace jitbag::tools {

/// How it stands with one kernel: found, made, failed (there is a problem), or neither (missing).
struct Outcome {
  std::optional<KernelOrigin> origin = {};
  std::string problem = {};
  std::string place = {};  ///< the folder or bundle that has it
  std::string key = {};
  std::size_t cubin_bytes = 0;
  int registers = 0;
  int spill_bytes = 0;
  double disk_ms = 0;
  double remote_ms = 0;
  double compile_ms = 0;
};

/// One kernel that is wanted on disk.
struct Item {
  KernelRequest request;
  Outcome outcome = {};
};

[[nodiscard]] inline bool is_missing(const Item& item) {
  return !item.outcome.origin && item.outcome.problem.empty();
}

/// Looks in the cache folder and the layers; compiles nothing.
[[nodiscard]] Outcome look_up(Engine& engine, const KernelRequest& request);

/// Compiles it, or gets it from the remote, and keeps it in the folder. Throws nothing of jitbag's.
[[nodiscard]] Outcome make(Engine& engine, const KernelRequest& request);

/// From one process to another.
[[nodiscard]] std::string to_message(const Outcome& outcome);
[[nodiscard]] Outcome from_message(const std::string& message);

}  // namespace jitbag::tools
