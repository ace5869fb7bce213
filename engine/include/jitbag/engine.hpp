#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "jitbag/artifact.hpp"
#include "jitbag/kernel.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag {

struct EngineOptions {
  /// Folder of the disk cache. Unset: $JITBAG_CACHE_DIR, else $XDG_CACHE_HOME/jitbag, else
  /// ~/.cache/jitbag.
  std::optional<std::filesystem::path> cache_directory = {};
  /// Without it nothing is read from or written to disk.
  bool use_disk = true;
  /// How long to wait for another process that compiles the same kernel before compiling it here.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

/// How a forward kernel is chosen, beyond its spec.
struct ForwardChoice {
  std::optional<Strategy> strategy = {};            ///< unset: the built-in rule
  std::optional<std::int64_t> expected_batch = {};  ///< a hint for that rule
};

/// From spec to launchable kernel: memory, else disk, else NVRTC. One Engine serves any number of
/// threads, streams, devices and contexts. Making one opens nothing: driver, NVRTC and cache folder
/// are found when first needed.
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

  /// A kernel of the caller's own, by the same path.
  [[nodiscard]] const Kernel& kernel(const KernelTemplate& kernel_template);

  /// The machine code for a specialisation, from disk or NVRTC. Needs no driver and no GPU. Not
  /// kept in memory.
  [[nodiscard]] Artifact artifact(const Specialisation& specialisation);

  /// Throws Error(bad_id) for the first bad id that a finished launch with BadIds::report met
  /// in the calling thread's context, and forgets it. Does not synchronise: a launch still running
  /// is seen at a later check.
  void check();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jitbag
