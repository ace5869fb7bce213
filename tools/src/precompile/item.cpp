#include "precompile/item.hpp"

#include <nlohmann/json.hpp>

#include "jitbag/error.hpp"

namespace jitbag::tools {
namespace {

Outcome outcome_of(const Artifact& artifact) {
  return {.origin = artifact.origin,
          .problem = "",
          .place = artifact.place,
          .key = artifact.key,
          .cubin_bytes = artifact.cubin.size(),
          .registers = artifact.registers,
          .spill_bytes = artifact.spill_bytes,
          .disk_ms = artifact.times.disk_ms,
          .remote_ms = artifact.times.remote_ms,
          .compile_ms = artifact.times.compile_ms};
}

Outcome failure(std::string problem) {
  return {.problem = std::move(problem)};
}

}  // namespace

Outcome look_up(Engine& engine, const KernelRequest& request) {
  const auto artifact = engine.find(specialisation(request));
  return artifact ? outcome_of(*artifact) : Outcome{};
}

Outcome make(Engine& engine, const KernelRequest& request) {
  try {
    const Artifact artifact = engine.artifact(specialisation(request));
    if (!artifact.is_on_disk)
      return failure(
          "It compiled, but its record could not be written to the cache; see that the disk has "
          "room.");
    Outcome outcome = outcome_of(artifact);
    outcome.place = engine.cache().folder()->directory().string();
    return outcome;
  } catch (const Error& error) {
    const std::string& details = error.details();
    return failure(details.empty() ? error.what() : error.what() + ("\n" + details));
  }
}

std::string to_message(const Outcome& outcome) {
  const nlohmann::json message = {
      {"origin", outcome.origin ? nlohmann::json(*outcome.origin) : nlohmann::json()},
      {"problem", outcome.problem},
      {"place", outcome.place},
      {"key", outcome.key},
      {"cubin_bytes", outcome.cubin_bytes},
      {"registers", outcome.registers},
      {"spill_bytes", outcome.spill_bytes},
      {"disk_ms", outcome.disk_ms},
      {"remote_ms", outcome.remote_ms},
      {"compile_ms", outcome.compile_ms}};
  return message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Outcome from_message(const std::string& message) {
  const auto json = nlohmann::json::parse(message);
  Outcome outcome{.problem = json.at("problem"),
                  .place = json.at("place"),
                  .key = json.at("key"),
                  .cubin_bytes = json.at("cubin_bytes"),
                  .registers = json.at("registers"),
                  .spill_bytes = json.at("spill_bytes"),
                  .disk_ms = json.at("disk_ms"),
                  .remote_ms = json.at("remote_ms"),
                  .compile_ms = json.at("compile_ms")};
  if (!json.at("origin").is_null()) outcome.origin = json.at("origin").get<KernelOrigin>();
  return outcome;
}

}  // namespace jitbag::tools
