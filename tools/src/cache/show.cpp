#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cache/commands.hpp"
#include "cache/description.hpp"
#include "cache/record_place.hpp"
#include "cache_here.hpp"
#include "file.hpp"
#include "jitbag/artifact.hpp"
#include "jitbag/cache/error.hpp"
#include "output.hpp"

namespace jitbag::tools {
namespace {

struct ShowOptions {
  std::string wanted;
  bool source = false;
  bool json = false;
  std::string cubin_file;
};

struct Shown {
  cache::Record record;
  std::string key;
  std::string place;
  std::optional<RecordPlace::Time> last_used;
};

bool is_key_prefix(const std::string& text) {
  constexpr std::size_t shortest = 4;
  return text.size() >= shortest && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The records that `fits`, each once, from the first place that has it.
template <typename Fits>
std::vector<Shown> matches(const std::vector<RecordPlace>& places, Fits fits) {
  std::vector<Shown> found;
  for (const RecordPlace& place : places) {
    for (const cache::Digest& digest : place.keys()) {
      const std::string key = digest.hex();
      if (std::ranges::find(found, key, &Shown::key) != found.end()) continue;
      auto record = fits(place, digest);
      if (record)
        found.push_back({std::move(*record), key, place.where(), place.last_used(digest)});
    }
  }
  return found;
}

std::vector<Shown> by_key(const std::vector<RecordPlace>& places, const std::string& prefix) {
  return matches(places, [&](const RecordPlace& place, const cache::Digest& key) {
    return key.hex().starts_with(prefix) ? place.find(key) : std::nullopt;
  });
}

std::vector<Shown> by_spec(const std::vector<RecordPlace>& places, const std::string& text) {
  return matches(places, [&](const RecordPlace& place, const cache::Digest& key) {
    auto record = place.find(key);
    if (record && describe(*record).spec.find(text) == std::string::npos) record.reset();
    return record;
  });
}

[[noreturn]] void refuse_ambiguous(const std::string& wanted, const std::vector<Shown>& found) {
  constexpr std::size_t most = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(found.size(), most); ++i) {
    const Description description = describe(found[i].record);
    list += fmt::format("\n  {}  {}  {}", found[i].key.substr(0, 12), description.arch,
                        description.spec);
  }
  if (found.size() > most) list += fmt::format("\n  and {} more", found.size() - most);
  throw cache::Error(
      fmt::format("'{}' fits {} records; give more of one's key:{}", wanted, found.size(), list));
}

Shown find_one(const std::string& wanted) {
  const std::vector<RecordPlace> places = all_places(cache_options_here());
  std::vector<Shown> found;
  if (is_key_prefix(wanted)) found = by_key(places, wanted);
  if (found.empty()) found = by_spec(places, wanted);
  if (found.empty())
    throw cache::Error(
        fmt::format("No record has a key that begins with '{}' (four digits or more), or that text "
                    "in its spec; see `jitbag cache list --all`.",
                    wanted));
  if (found.size() > 1) refuse_ambiguous(wanted, found);
  return std::move(found.front());
}

Json fields_json(const cache::Record& record) {
  Json fields = Json::array();
  for (const cache::Field& field : record.fields)
    fields.push_back({{"name", field.name}, {"value", field.value}});
  return fields;
}

Json artifact_json(const std::optional<Artifact>& artifact) {
  if (!artifact) return nullptr;
  return {{"compiler", artifact->compiler},         {"registers", artifact->registers},
          {"shared_bytes", artifact->shared_bytes}, {"spill_bytes", artifact->spill_bytes},
          {"cubin_bytes", artifact->cubin.size()},  {"log", artifact->log}};
}

void print_shown_json(const Shown& shown, const std::optional<Artifact>& artifact) {
  const Description description = describe(shown.record);
  print_json({{"key", shown.key},
              {"spec", description.spec},
              {"strategy", description.strategy},
              {"arch", description.arch},
              {"place", shown.place},
              {"bytes", cache::encode(shown.record).size()},
              {"last_used", shown.last_used ? Json(iso_time(*shown.last_used)) : Json()},
              {"kernel", artifact_json(artifact)},
              {"constants", constants_of(value_of(shown.record, "source"))},
              {"fields", fields_json(shown.record)}});
}

void print_shown(const Shown& shown, const std::optional<Artifact>& artifact) {
  std::vector<std::pair<std::string, std::string>> lines = {{"key", shown.key},
                                                            {"place", shown.place}};
  if (shown.last_used) lines.emplace_back("last used", iso_time(*shown.last_used));
  lines.emplace_back("size", human_bytes(static_cast<double>(cache::encode(shown.record).size())));
  for (const cache::Field& field : shown.record.fields)
    lines.emplace_back(field.name, field.name == "source"
                                       ? fmt::format("{} bytes (--source)", field.value.size())
                                       : field.value);
  if (artifact) {
    lines.emplace_back("made by", artifact->compiler);
    lines.emplace_back("registers", fmt::format("{} a thread", artifact->registers));
    lines.emplace_back("shared memory", fmt::format("{} bytes a block", artifact->shared_bytes));
    lines.emplace_back("spills", fmt::format("{} bytes", artifact->spill_bytes));
    lines.emplace_back("machine code", fmt::format("{} bytes", artifact->cubin.size()));
  } else {
    lines.emplace_back("payload", fmt::format("{} bytes, no kernel that this jitbag knows",
                                              shown.record.payload.size()));
  }
  fmt::print("{}\n{}", name_value_lines(lines), constants_of(value_of(shown.record, "source")));
  if (artifact && !artifact->log.empty()) fmt::print("\n{}\n", artifact->log);
}

int run(const ShowOptions& options) {
  const Shown shown = find_one(options.wanted);
  const std::optional<Artifact> artifact = artifact_of(shown.record);
  if (!options.cubin_file.empty()) {
    if (!artifact)
      throw cache::Error(
          fmt::format("The record {} has no machine code that this jitbag knows.", shown.key));
    write_file(options.cubin_file, artifact->cubin);
  }
  if (options.source)
    fmt::print("{}", value_of(shown.record, "source"));
  else if (wants_json(options.json))
    print_shown_json(shown, artifact);
  else
    print_shown(shown, artifact);
  return exit_done;
}

}  // namespace

Command add_cache_show(CLI::App& cache) {
  CLI::App* arguments =
      cache.add_subcommand("show", "Show one kernel with all that went into its key");
  auto options = std::make_shared<ShowOptions>();
  arguments
      ->add_option("KEY", options->wanted,
                   "The first digits of its key, at least four, or a text that its spec alone has")
      ->required();
  arguments->add_flag("--source", options->source, "Print its source and nothing else");
  arguments->add_option("--out-cubin", options->cubin_file, "Write the machine code to this file")
      ->type_name("FILE");
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  return {arguments, [options] { return run(*options); }};
}

}  // namespace jitbag::tools
