#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy.hpp"
#include "bench/options.hpp"
#include "jitbag/artifact.hpp"
#include "output.hpp"

namespace jitbag::tools::bench {

enum class Status { ok, unsupported, error };
[[nodiscard]] std::string_view name(Status status);

/// What a launch takes on the device alone, in microseconds.
struct DeviceTime {
  double median_us = 0;
  double p95_us = 0;
};

/// The kernel that ran, and how it was made.
struct KernelFacts {
  std::string strategy;
  std::string key;
  std::string compiler;
  int registers = 0;
  int shared_bytes = 0;
  int spill_bytes = 0;
  std::size_t cubin_bytes = 0;
  KernelOrigin origin = KernelOrigin::compiled;
  std::string place;  ///< the folder, bundle or url it came from; empty when compiled
  MakeTimes times;
};

/// The parts of a step of training.
enum class PartKind {
  zero,  ///< of all of a dense gradient
  forward,
  backward,
  backward_and_step,  ///< of the optimizer, in one pass
  clear,              ///< of the rows of a kept gradient that backward added to
};
[[nodiscard]] std::string_view name(PartKind kind);

/// One of them.
struct Part {
  PartKind kind = PartKind::forward;
  std::vector<KernelFacts> kernels = {};
  std::optional<Accuracy> accuracy = {};  ///< of what it writes, where that is compared
  std::optional<DeviceTime> device_time = {};
  std::vector<double> step_times_ms = {};  ///< by the clock on the wall, one for each step
};

/// One backend on one shape.
struct Result {
  std::string backend;
  Status status = Status::ok;
  std::string resolved_backend;
  std::vector<double> elapsed_sec;  ///< one for each repeat
  std::optional<Accuracy> accuracy;
  std::optional<KernelFacts> kernel;
  std::optional<DeviceTime> device_time;
  std::optional<double> host_time_us;
  std::optional<double> bytes_moved;
  std::vector<Part> parts;  ///< of a step of training, in order
  std::string error;
};

[[nodiscard]] Result unsupported(std::string backend, std::string reason);
[[nodiscard]] Result failed(std::string backend, std::string reason);

/// Seconds from spec to cubin when NVRTC made it; 0 when it came from disk or memory. Of all
/// kernels; nothing where there is none.
[[nodiscard]] std::optional<double> compile_sec(const std::vector<KernelFacts>& kernels);
[[nodiscard]] std::optional<double> compile_sec(const Result& result);
/// Milliseconds of a step in each repeat, by the clock on the wall.
[[nodiscard]] std::vector<double> step_times_ms(const Result& result, const Options& options);
/// Mean milliseconds of a step, by the clock on the wall; nothing where none was timed.
[[nodiscard]] std::optional<double> step_time_ms(const Result& result, const Options& options);
/// Billions of `bytes_moved` a second: on the device alone where that was measured, else by step.
[[nodiscard]] std::optional<double> gb_per_s(const Result& result, const Options& options);
[[nodiscard]] std::optional<double> share_of_ceiling(const Result& result, const Options& options,
                                                     std::optional<double> ceiling_gb_per_s);

[[nodiscard]] Json to_json(const Result& result, const Options& options,
                           std::optional<double> ceiling_gb_per_s);

}  // namespace jitbag::tools::bench
