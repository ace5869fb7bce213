#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "jitbag/artifact.hpp"
#include "jitbag/backward.hpp"
#include "jitbag/cache/cache.hpp"
#include "jitbag/cache/explain.hpp"
#include "jitbag/kernel.hpp"
#include "jitbag/quantise.hpp"
#include "jitbag/specialisation.hpp"
#include "jitbag/tables.hpp"
#include "jitbag/transpose.hpp"

namespace jitbag {

struct EngineOptions {
  /// The cache folder, the layers below it and the remote. Unset: what the environment says
  /// (JITBAG_CACHE_DIR and the others, see jitbag/cache/cache.hpp). `cache::CacheOptions{}` has
  /// none of them: nothing is read from or written to disk.
  std::optional<cache::CacheOptions> cache = {};
  /// The folder of wisdom (jitbag/wisdom.hpp), which is only read. Unset: `wisdom` in the cache
  /// folder. An empty path: none is used.
  std::optional<std::filesystem::path> wisdom = {};
  /// How long to wait for another process that compiles the same kernel before compiling it here.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

/// How a forward kernel is chosen, beyond its spec.
struct ForwardChoice {
  std::optional<Strategy> strategy = {};            ///< unset: wisdom, else the built-in rule
  std::optional<std::int64_t> expected_batch = {};  ///< a hint for both
};

/// How the kernels of a gradient are chosen.
struct BackwardChoice {
  std::optional<BackwardStrategy> strategy = {};    ///< unset: wisdom, else the built-in rule
  std::optional<std::int64_t> expected_batch = {};  ///< a hint for both
  /// One for the rule, as ExpectedIds::top_share. Wisdom, which knows nothing of it, is then not
  /// asked.
  std::optional<double> expected_top_share = {};
};

/// How a kernel for a set of tables is chosen.
struct TablesChoice {
  /// Empty: wisdom, else the built-in rule; else one for each table.
  std::vector<Strategy> strategies = {};
  std::optional<std::int64_t> expected_batch = {};  ///< a hint for both
};

/// From spec to launchable kernel: memory, else disk (the cache folder, then the layers), else the
/// remote, else NVRTC. One Engine serves any number of
/// threads, streams, devices and contexts. Making one opens nothing: driver, NVRTC and cache folder
/// are found when first needed. Wisdom is read once for each device.
class Engine {
 public:
  explicit Engine(const EngineOptions& options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// The kernel for this spec on the device of the calling thread's context; a thread without one
  /// gets the primary context of device 0. The reference is good as long as the Engine.
  /// The first call makes the kernel (once, however many threads and processes ask); later ones
  /// find it in memory.
  [[nodiscard]] const ForwardKernel& forward(const ForwardSpec& spec,
                                             const ForwardChoice& choice = {});

  /// The kernel for a set of tables, in the same way. Its lookup compares whole specs: keep the
  /// reference rather than ask again.
  [[nodiscard]] const TablesKernel& tables(const TablesSpec& spec, const TablesChoice& choice = {});

  /// The kernels for a gradient, in the same way; keep the reference, since its lookup compares
  /// whole specs.
  [[nodiscard]] const BackwardKernel& backward(const BackwardSpec& spec,
                                               const BackwardChoice& choice = {});

  /// The kernels for ids by row, in the same way.
  [[nodiscard]] const TransposeKernel& transpose(const TransposeSpec& spec);

  /// What makes quantised tables of the spec's layout on the GPU.
  [[nodiscard]] const Quantiser& quantiser(const ForwardSpec& spec);

  /// A kernel of the caller's own, by the same path.
  [[nodiscard]] const Kernel& kernel(const KernelTemplate& kernel_template);

  /// The machine code for a specialisation, from disk, the remote or NVRTC. Needs no driver and no
  /// GPU. Not kept in memory.
  [[nodiscard]] Artifact artifact(const Specialisation& specialisation);

  /// The same, from the cache folder or a layer alone: nothing is compiled or asked for over the
  /// network, and NVRTC is not opened.
  [[nodiscard]] std::optional<Artifact> find(const Specialisation& specialisation);

  /// Of all records in the cache folder and the layers the one whose key differs least from that of
  /// the specialisation: why it was a miss. Reads every record. Nothing when there is none.
  [[nodiscard]] std::optional<cache::NearestRecord::Answer> nearest(
      const Specialisation& specialisation);

  /// Where this engine looks for records and keeps them.
  [[nodiscard]] const cache::Cache& cache() const noexcept;

  /// Throws Error, bad_id or bad_offset, for the first bad input that a finished launch with
  /// BadIds::report met in the calling thread's context, and forgets it. Does not synchronise: a
  /// launch still running is seen at a later check.
  void check();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jitbag
