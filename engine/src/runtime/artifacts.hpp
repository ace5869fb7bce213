#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/artifact.hpp"
#include "jitbag/cache/cache.hpp"
#include "jitbag/cache/explain.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/engine.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag {

/// Machine code for specialisations: from the cache, else from NVRTC, and then into the cache.
class Artifacts {
 public:
  explicit Artifacts(const EngineOptions& options);

  /// From the cache or compiled. One process at a time makes a key; the others wait for it and read
  /// its record.
  [[nodiscard]] Artifact get(const Specialisation& specialisation);

  /// From the cache folder or a layer, if it is there.
  [[nodiscard]] std::optional<Artifact> find(const Specialisation& specialisation);

  /// Compiled now, in place of a record that the driver refused.
  [[nodiscard]] Artifact replace(const Specialisation& specialisation);

  /// The record whose key differs least from that of the specialisation.
  [[nodiscard]] std::optional<cache::NearestRecord::Answer> nearest(
      const Specialisation& specialisation);

  [[nodiscard]] const cache::Cache& cache() const noexcept { return cache_; }

 private:
  struct Request;
  [[nodiscard]] const std::optional<compiler::Library>& library();
  [[nodiscard]] std::vector<std::string> compiler_builds();
  [[nodiscard]] std::optional<Artifact> find(const Request& request) const;
  [[nodiscard]] std::optional<Artifact> fetch(const Request& request) const;
  [[nodiscard]] Artifact make(const Specialisation& specialisation, const Request& request);
  void require_compiler(const Specialisation& specialisation);
  [[nodiscard]] Artifact compile(const Specialisation& specialisation, const Request& request);

  cache::Cache cache_;
  std::chrono::milliseconds patience_;
  std::once_flag library_found_;
  std::optional<compiler::Library> library_;
};

}  // namespace jitbag
