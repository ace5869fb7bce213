#include "runtime/artifacts.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "compiler/artifact.hpp"
#include "compiler/nvrtc.hpp"
#include "jitbag/cache/folder_layer.hpp"
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

KernelOrigin origin_of(cache::Place place) {
  switch (place) {
    case cache::Place::folder:
      return KernelOrigin::disk;
    case cache::Place::bundle:
      return KernelOrigin::bundle;
    case cache::Place::remote:
      return KernelOrigin::remote;
  }
  return KernelOrigin::disk;
}

/// Everywhere that records are looked for, in order.
std::string places(const cache::Cache& cache) {
  std::vector<std::string> places;
  if (cache.folder() != nullptr) places.push_back(cache.folder()->directory().string());
  for (const auto& layer : cache.layers()) places.push_back(layer->where());
  if (cache.remote() != nullptr) places.push_back(cache.remote()->where());
  if (places.empty()) return "any cache, as none is used";
  return fmt::format("{}", fmt::join(places, ", "));
}

/// What was found, if it is the whole kernel.
std::optional<Artifact> artifact_found(const cache::Found& found) {
  auto artifact = artifact_of(found.record);
  if (!artifact) return {};
  artifact->origin = origin_of(found.place);
  artifact->place = found.where;
  artifact->is_on_disk = found.place != cache::Place::remote;
  return artifact;
}

}  // namespace

/// The keys under which an artifact may lie: one for the compiler that is installed, or, where none
/// is, one for each that has written into this cache.
struct Artifacts::Request {
  struct Candidate {
    std::string build;  ///< of the compiler
    std::vector<cache::Field> fields;
    cache::Digest key;
  };
  std::vector<Candidate> candidates;

  Request(const Specialisation& specialisation, const std::vector<std::string>& builds) {
    for (const std::string& build : builds) {
      Candidate candidate{build, fields_of(specialisation, build), {}};
      candidate.key = cache::key_of(candidate.fields);
      candidates.push_back(std::move(candidate));
    }
  }
};

std::optional<Artifact> artifact_of(const cache::Record& record) {
  const auto entry = std::ranges::find(record.fields, "entry", &cache::Field::name);
  if (entry == record.fields.end()) return {};
  auto artifact = compiler::from_payload(record.payload, entry->value);
  if (artifact) artifact->key = record.key().hex();
  return artifact;
}

Artifacts::Artifacts(const EngineOptions& options)
    : cache_(options.cache ? *options.cache : cache::options_from_environment(warn), warn),
      patience_(options.patience) {}

const std::optional<compiler::Library>& Artifacts::library() {
  std::call_once(library_found_, [this] { library_ = compiler::find(); });
  return library_;
}

std::vector<std::string> Artifacts::compiler_builds() {
  if (library()) return {library()->build_id};
  std::vector<std::string> builds;
  for (const cache::Producer& producer : cache_.producers()) builds.push_back(producer.id);
  return builds;
}

std::optional<Artifact> Artifacts::find(const Request& request) const {
  for (const Request::Candidate& candidate : request.candidates) {
    const auto found = cache_.find(candidate.key);
    if (!found) continue;
    if (auto artifact = artifact_found(*found)) return artifact;
    warn(fmt::format("The record {} in {} is whole, but holds no kernel; it is not used.",
                     candidate.key.hex(), found->where));
    cache_.discard(candidate.key);  // the next store would leave a whole record alone
  }
  return {};
}

std::optional<Artifact> Artifacts::fetch(const Request& request) const {
  for (const Request::Candidate& candidate : request.candidates) {
    const auto found = cache_.fetch(candidate.key);
    if (!found) continue;
    auto artifact = artifact_found(*found);
    if (!artifact) continue;
    artifact->is_on_disk = cache_.store(found->record);
    cache_.remember({candidate.build, artifact->compiler});
    return artifact;
  }
  return {};
}

void Artifacts::require_compiler(const Specialisation& specialisation) {
  if (library()) return;
  throw Error(ErrorKind::missing_library,
              fmt::format("{} The kernel {} for {} is not in {}.", compiler::missing_sentence(),
                          specialisation.name, to_text(specialisation.target), places(cache_)));
}

Artifact Artifacts::compile(const Specialisation& specialisation, const Request& request) {
  require_compiler(specialisation);
  Artifact artifact = compiler::compile(specialisation, *library());
  const Request::Candidate& candidate = request.candidates.front();
  artifact.key = candidate.key.hex();
  artifact.origin = KernelOrigin::compiled;
  const cache::Record record{candidate.fields, compiler::to_payload(artifact)};
  const cache::Producer producer{library()->build_id, artifact.compiler};
  artifact.is_on_disk = cache_.store(record);
  cache_.remember(producer);
  const auto publishing = Clock::now();
  cache_.publish(record, producer);
  artifact.times.remote_ms = milliseconds_since(publishing);
  return artifact;
}

/// What the folder and the layers do not have. Other processes that want it wait meanwhile.
Artifact Artifacts::make(const Specialisation& specialisation, const Request& request) {
  const auto waiting = Clock::now();
  std::optional<cache::Claim> claim;
  if (!request.candidates.empty()) claim = cache_.claim(request.candidates.front().key, patience_);
  auto artifact = find(request);  // another process may have made it while this one waited
  const double disk_ms = milliseconds_since(waiting);
  const auto asking = Clock::now();
  if (!artifact) artifact = fetch(request);
  const double remote_ms = milliseconds_since(asking);
  if (!artifact) artifact = compile(specialisation, request);
  artifact->times.disk_ms += disk_ms;
  if (cache_.remote() != nullptr) artifact->times.remote_ms += remote_ms;
  return *artifact;
}

Artifact Artifacts::get(const Specialisation& specialisation) {
  const auto start = Clock::now();
  const Request request(specialisation, compiler_builds());
  const double key_ms = milliseconds_since(start);

  const auto reading = Clock::now();
  auto artifact = find(request);
  const double disk_ms = milliseconds_since(reading);
  if (!artifact) artifact = make(specialisation, request);
  artifact->times.disk_ms += disk_ms;
  artifact->times.codegen_ms = key_ms;
  return *artifact;
}

std::optional<Artifact> Artifacts::find(const Specialisation& specialisation) {
  const Request request(specialisation, compiler_builds());
  const auto reading = Clock::now();
  auto artifact = find(request);
  if (artifact) artifact->times.disk_ms = milliseconds_since(reading);
  return artifact;
}

Artifact Artifacts::replace(const Specialisation& specialisation) {
  require_compiler(specialisation);
  const Request request(specialisation, {library()->build_id});
  cache_.discard(request.candidates.front().key);
  return compile(specialisation, request);
}

std::optional<cache::NearestRecord::Answer> Artifacts::nearest(
    const Specialisation& specialisation) {
  auto builds = compiler_builds();
  if (builds.empty()) builds.emplace_back("no NVRTC here");
  cache::NearestRecord nearest(fields_of(specialisation, builds.front()));
  const auto consider_all = [&nearest](const cache::Layer& layer) {
    for (const cache::Digest& key : layer.keys()) {
      if (const auto record = layer.find(key)) nearest.consider(record->fields, layer.where());
    }
  };
  // As a layer, so that looking at every record does not count as using it.
  if (const cache::DiskCache* folder = cache_.folder())
    consider_all(cache::FolderLayer(folder->directory(), [](std::string_view) {}));
  for (const auto& layer : cache_.layers()) consider_all(*layer);
  return nearest.answer();
}

}  // namespace jitbag
