#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "arguments.hpp"
#include "cache/commands.hpp"
#include "cache/description.hpp"
#include "cache/record_place.hpp"
#include "cache_here.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/error.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace jitbag::tools {
namespace {

struct ExportOptions {
  std::string file;
  std::string architectures;
  std::string signing_key;
  bool json = false;
};

/// A record that goes into the bundle.
struct Chosen {
  cache::Digest key;
  Description description;
  const RecordPlace* place;
};

/// By key, so that each is there once, from the first place that has it whole.
struct Choice {
  std::map<std::string, Chosen> records = {};
  std::set<std::string> damaged = {};
};

Choice choose(const std::vector<RecordPlace>& places, const ExportOptions& options) {
  const auto architectures = options.architectures.empty() ? std::vector<std::string>{}
                                                           : distinct_parts(options.architectures);
  std::int64_t records = 0;
  for (const RecordPlace& place : places) records += static_cast<std::int64_t>(place.keys().size());
  Progress progress("cache export, looking", records);
  Choice choice;
  for (const RecordPlace& place : places) {
    for (const cache::Digest& key : place.keys()) {
      progress.advance();
      const std::string hex = key.hex();
      if (choice.records.contains(hex)) continue;
      const auto record = place.find(key);
      if (!record) {
        choice.damaged.insert(hex);
        continue;
      }
      choice.damaged.erase(hex);
      Chosen chosen{key, describe(*record), &place};
      const bool is_wanted =
          architectures.empty() ||
          std::ranges::find(architectures, chosen.description.arch) != architectures.end();
      if (is_wanted) choice.records.emplace(hex, std::move(chosen));
    }
  }
  return choice;
}

/// Those who made one of the records, in an order that does not depend on the machine.
std::vector<cache::Producer> producers_of(const std::vector<RecordPlace>& places,
                                          const Choice& choice) {
  std::set<std::string> builds;
  for (const auto& [hex, chosen] : choice.records) builds.insert(chosen.description.compiler_build);
  std::map<std::string, cache::Producer> producers;
  for (const RecordPlace& place : places) {
    for (const cache::Producer& producer : place.producers()) {
      if (builds.contains(producer.id)) producers.emplace(producer.id, producer);
    }
  }
  std::vector<cache::Producer> sorted;
  sorted.reserve(producers.size());
  for (const auto& [id, producer] : producers) sorted.push_back(producer);
  return sorted;
}

cache::BundleContents contents_of(const std::vector<RecordPlace>& places, const Choice& choice) {
  cache::BundleContents contents;
  for (const auto& [hex, chosen] : choice.records) contents.keys.push_back(chosen.key);
  contents.producers = producers_of(places, choice);
  contents.read = [&choice](const cache::Digest& key) {
    return choice.records.at(key.hex()).place->find(key);
  };
  return contents;
}

void print_report(const ExportOptions& options, const Choice& choice,
                  const cache::BundleContents& contents, const cache::BundleSummary& summary) {
  std::map<std::string, std::size_t> architectures;
  for (const auto& [hex, chosen] : choice.records) ++architectures[chosen.description.arch];
  if (wants_json(options.json)) {
    Json json = {{"file", options.file},
                 {"records", summary.records},
                 {"record_bytes", summary.record_bytes},
                 {"file_bytes", summary.file_bytes},
                 {"signed", !options.signing_key.empty()},
                 {"damaged", choice.damaged},
                 {"architectures", Json::object()},
                 {"producers", Json::array()},
                 {"kernels", Json::array()}};
    for (const auto& [arch, records] : architectures) json["architectures"][arch] = records;
    for (const cache::Producer& producer : contents.producers)
      json["producers"].push_back({{"id", producer.id}, {"description", producer.description}});
    for (const auto& [hex, chosen] : choice.records)
      json["kernels"].push_back({{"key", hex},
                                 {"spec", chosen.description.spec},
                                 {"strategy", chosen.description.strategy},
                                 {"arch", chosen.description.arch}});
    print_json(json);
    return;
  }
  fmt::print("{}: {} records, {} ({} unpacked), {}\n", options.file, summary.records,
             human_bytes(static_cast<double>(summary.file_bytes)),
             human_bytes(static_cast<double>(summary.record_bytes)),
             options.signing_key.empty() ? "not signed" : "signed");
  for (const auto& [arch, records] : architectures) fmt::print("{} for {}\n", records, arch);
  for (const cache::Producer& producer : contents.producers)
    fmt::print("made by {}\n", producer.description);
}

void say_left_out(const Choice& choice) {
  for (const std::string& key : choice.damaged)
    say_error(fmt::format("The record {} cannot be used and was left out.", key));
}

int run(const ExportOptions& options) {
  std::optional<cache::SigningKey> signing;
  if (!options.signing_key.empty()) signing = cache::SigningKey::read(options.signing_key);
  const cache::CacheOptions cache_options = cache_options_here();
  const std::vector<RecordPlace> places = all_places(cache_options);
  const Choice choice = choose(places, options);
  say_left_out(choice);
  if (choice.records.empty())
    throw cache::Error(
        options.architectures.empty()
            ? "There is no record to export; `jitbag precompile` makes some."
            : fmt::format("There is no record for {} to export; `jitbag precompile` makes some.",
                          options.architectures));
  const cache::BundleContents contents = contents_of(places, choice);
  const cache::BundleSummary summary = cache::write_bundle(options.file, contents, signing);
  print_report(options, choice, contents, summary);
  const bool is_complete = choice.damaged.empty() && unusable_layers(cache_options).empty();
  return is_complete ? exit_done : exit_failed;
}

}  // namespace

Command add_cache_export(CLI::App& cache) {
  CLI::App* arguments = cache.add_subcommand(
      "export", "Write every kernel of the folder and the layers into one file, to ship");
  auto options = std::make_shared<ExportOptions>();
  arguments->add_option("FILE", options->file, "The bundle; one that is there is replaced")
      ->required();
  arguments->add_option("--arch", options->architectures, "Only these, such as sm_80,sm_90")
      ->check(list_of(architecture()))
      ->type_name("LIST");
  arguments
      ->add_option("--sign", options->signing_key,
                   "Ed25519 private key, as `openssl genpkey -algorithm ed25519` writes it")
      ->check(file_name())
      ->type_name("KEY.pem");
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  arguments->footer(
      "The same records give the same bytes. A bundle is used by its path in $JITBAG_CACHE_PATH,\n"
      "or unpacked with `jitbag cache import`. `jitbag cache list --in FILE` says what it covers.");
  return {arguments, [options] { return run(*options); }};
}

}  // namespace jitbag::tools
