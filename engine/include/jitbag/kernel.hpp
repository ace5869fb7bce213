#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "jitbag/artifact.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"

/// The driver's stream handle, as in cuda.h; a cudaStream_t is the same thing.
struct CUstream_st;

namespace jitbag {

using Stream = CUstream_st*;

struct LaunchShape {
  unsigned blocks_x = 1, blocks_y = 1, blocks_z = 1;
  unsigned threads_x = 1, threads_y = 1, threads_z = 1;
  unsigned shared_bytes = 0;  ///< dynamic shared memory per block
  LaunchMode mode = LaunchMode::plain;
};

/// A loaded function. Belongs to the Engine that gave it and lives as long as that. May be launched
/// from any thread, in any context of a device with the kernel's architecture, on any stream.
class Kernel {
 public:
  struct State;
  explicit Kernel(std::unique_ptr<State> state);
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) noexcept;
  ~Kernel();

  /// What was compiled, where it came from and what each step took.
  [[nodiscard]] const Artifact& artifact() const noexcept;

  /// Enqueues the kernel; returns before it runs. `arguments` are pointers to the values of the
  /// kernel's parameters, in order, as for cuLaunchKernel. Throws Error(device_failed).
  void launch(const LaunchShape& shape, std::span<void* const> arguments, Stream stream) const;

 private:
  std::unique_ptr<State> state_;
};

/// What a forward kernel works on. All pointers are device pointers, used on the stream of the
/// launch and not kept. Those that the spec has no use for are ignored.
struct ForwardArguments {
  const void* table = nullptr;  ///< [num_rows, dim], rows `row_stride` apart
  std::int64_t num_rows = 0;
  const void* ids = nullptr;      ///< fixed: [batch, bag size]; CSR: [num_ids]
  std::int64_t num_ids = 0;       ///< CSR only; a fixed layout has batch * bag size
  const void* offsets = nullptr;  ///< CSR only: [batch + 1] or [batch]
  /// [batch, poolings * dim], or [n, dim] without pooling; every element of a bag, or of a row, is
  /// written.
  void* output = nullptr;
  std::int64_t batch = 0;
  const void* weights = nullptr;  ///< spec.weight_type: one for each id
  const void* scales = nullptr;   ///< RowScale::Place::apart: [num_rows], with bias [num_rows, 2]
  void* winners = nullptr;        ///< spec.winners: [batch, dim] of the ids' type
  /// Counts::on_device: the batch and the number of ids, on the device. Less than 0 counts as 0,
  /// more than `batch` and `num_ids` as those.
  const std::int64_t* counts = nullptr;
  const float* end_parameters = nullptr;  ///< what spec.end calls `parameters`; may be null
};

class Reports;

/// An embedding-bag forward kernel.
class ForwardKernel {
 public:
  ForwardKernel(Kernel kernel, const ForwardSpec& spec, const Strategy& strategy, Reports& reports);

  [[nodiscard]] const ForwardSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const Strategy& strategy() const noexcept { return strategy_; }
  [[nodiscard]] const Artifact& artifact() const noexcept { return kernel_.artifact(); }

  /// Enqueues the kernel; returns before it runs, allocates nothing and may be captured into a
  /// graph. (Under BadIds::report the first launch in a context other than that of Engine::forward
  /// allocates.) Throws Error: invalid_argument for a missing or misaligned pointer or a size that
  /// the spec excludes, device_failed, and bad_id or bad_offset when an earlier launch with
  /// BadIds::report met one.
  void launch(const ForwardArguments& arguments, Stream stream) const;

 private:
  Kernel kernel_;
  ForwardSpec spec_;
  Strategy strategy_;
  Reports* reports_;
};

}  // namespace jitbag
