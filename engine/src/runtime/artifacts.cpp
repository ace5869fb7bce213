#include "runtime/artifacts.hpp"

#include <spdlog/spdlog.h>

#include "compiler/artifact.hpp"
#include "compiler/nvrtc.hpp"
#include "jitbag/error.hpp"

namespace jitbag {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// All that decides an artifact. The version counts changes of the payload's format and of what the
/// compiler is asked for beside the options here.
std::vector<cache::Field> fields_of(const Specialisation& specialisation,
                                    const std::string& build) {
  std::vector<cache::Field> fields = {{"artifact_version", "1"},
                                      {"compiler", "nvrtc"},
                                      {"compiler_build", build},
                                      {"target", to_text(specialisation.target)},
                                      {"entry", specialisation.entry}};
  for (const std::string& option : specialisation.options) fields.push_back({"option", option});
  fields.push_back({"name", specialisation.name});
  fields.push_back({"source", specialisation.source});
  return fields;
}

void warn(std::string_view sentence) {
  spdlog::warn("jitbag: {}", sentence);
}

std::optional<cache::DiskCache> open_disk(const EngineOptions& options) {
  if (!options.use_disk) return {};
  const auto folder =
      options.cache_directory ? options.cache_directory : cache::default_directory();
  if (folder) return cache::DiskCache(*folder, warn);
  warn(
      "No folder for the kernel cache: JITBAG_CACHE_DIR, XDG_CACHE_HOME and HOME are all unset, so "
      "kernels are "
      "kept in memory only; set JITBAG_CACHE_DIR.");
  return {};
}

}  // namespace

/// The keys under which an artifact may lie: one for the compiler that is installed, or, where none
/// is, one for each that has written into this cache.
struct Artifacts::Request {
  struct Candidate {
    std::vector<cache::Field> fields;
    cache::Digest key;
  };
  std::string entry;
  std::vector<Candidate> candidates;

  Request(const Specialisation& specialisation, const std::vector<std::string>& builds)
      : entry(specialisation.entry) {
    for (const std::string& build : builds) {
      Candidate candidate{fields_of(specialisation, build), {}};
      candidate.key = cache::key_of(candidate.fields);
      candidates.push_back(std::move(candidate));
    }
  }
};

Artifacts::Artifacts(const EngineOptions& options)
    : disk_(open_disk(options)), patience_(options.patience) {}

const std::optional<compiler::Library>& Artifacts::library() {
  std::call_once(library_found_, [this] { library_ = compiler::find(); });
  return library_;
}

std::vector<std::string> Artifacts::compiler_builds() {
  if (library()) return {library()->build_id};
  std::vector<std::string> builds;
  if (!disk_) return builds;
  for (const cache::Producer& producer : disk_->producers()) builds.push_back(producer.id);
  return builds;
}

std::optional<Artifact> Artifacts::find(const Request& request) const {
  if (!disk_) return {};
  for (const Request::Candidate& candidate : request.candidates) {
    const auto record = disk_->find(candidate.key);
    if (!record) continue;
    auto artifact = compiler::from_payload(record->payload, request.entry);
    if (!artifact) continue;
    artifact->key = candidate.key.hex();
    artifact->origin = KernelOrigin::disk;
    artifact->is_on_disk = true;
    return artifact;
  }
  return {};
}

Artifact Artifacts::compile(const Specialisation& specialisation, const Request& request) {
  Artifact artifact = compiler::compile(specialisation, *library());
  const Request::Candidate& candidate = request.candidates.front();
  artifact.key = candidate.key.hex();
  artifact.origin = KernelOrigin::compiled;
  if (disk_) {
    artifact.is_on_disk = disk_->store({candidate.fields, compiler::to_payload(artifact)});
    disk_->remember({library()->build_id, artifact.compiler});
  }
  return artifact;
}

Artifact Artifacts::get(const Specialisation& specialisation) {
  const auto start = Clock::now();
  const Request request(specialisation, compiler_builds());
  const double key_ms = milliseconds_since(start);

  const auto reading = Clock::now();
  auto artifact = find(request);
  if (!artifact) {
    if (!library()) throw Error(ErrorKind::missing_library, compiler::missing_sentence());
    std::optional<cache::Claim> claim;
    if (disk_) claim = disk_->claim(request.candidates.front().key, patience_);
    artifact = find(request);  // another process may have made it while this one waited
    const double disk_ms = milliseconds_since(reading);
    if (!artifact) artifact = compile(specialisation, request);
    artifact->times.disk_ms = disk_ms;
  } else {
    artifact->times.disk_ms = milliseconds_since(reading);
  }
  artifact->times.codegen_ms = key_ms;
  return *artifact;
}

Artifact Artifacts::replace(const Specialisation& specialisation) {
  if (!library()) throw Error(ErrorKind::missing_library, compiler::missing_sentence());
  const Request request(specialisation, {library()->build_id});
  if (disk_) disk_->discard(request.candidates.front().key);
  return compile(specialisation, request);
}

}  // namespace jitbag
