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
  std::string error;
};

[[nodiscard]] Result unsupported(std::string backend, std::string reason);
[[nodiscard]] Result failed(std::string backend, std::string reason);

/// Seconds from spec to cubin when NVRTC made it; 0 when it came from disk or memory.
[[nodiscard]] std::optional<double> compile_sec(const Result& result);
/// Mean milliseconds of a step, by the clock on the wall; nothing where none was timed.
[[nodiscard]] std::optional<double> step_time_ms(const Result& result, const Options& options);
/// Billions of `bytes_moved` a second: on the device alone where that was measured, else by step.
[[nodiscard]] std::optional<double> gb_per_s(const Result& result, const Options& options);
[[nodiscard]] std::optional<double> share_of_ceiling(const Result& result, const Options& options,
                                                     std::optional<double> ceiling_gb_per_s);

[[nodiscard]] Json to_json(const Result& result, const Options& options,
                           std::optional<double> ceiling_gb_per_s);

}  // namespace jitbag::tools::bench
