#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include "jitbag/artifact.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/engine.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag {

/// Machine code for specialisations: from disk, else from NVRTC, and then onto disk.
class Artifacts {
 public:
  explicit Artifacts(const EngineOptions& options);

  /// From disk or compiled. One process at a time compiles a key; the others wait for it and read
  /// its record.
  [[nodiscard]] Artifact get(const Specialisation& specialisation);

  /// Compiled now, in place of a record that the driver refused.
  [[nodiscard]] Artifact replace(const Specialisation& specialisation);

 private:
  struct Request;
  [[nodiscard]] const std::optional<compiler::Library>& library();
  [[nodiscard]] std::vector<std::string> compiler_builds();
  [[nodiscard]] std::optional<Artifact> find(const Request& request) const;
  [[nodiscard]] Artifact compile(const Specialisation& specialisation, const Request& request);

  std::optional<cache::DiskCache> disk_;
  std::chrono::milliseconds patience_;
  std::once_flag library_found_;
  std::optional<compiler::Library> library_;
};

}  // namespace jitbag
