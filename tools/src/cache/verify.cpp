#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cache/commands.hpp"
#include "cache/record_place.hpp"
#include "cache_here.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace jitbag::tools {
namespace {

struct VerifyOptions {
  bool all = false;
  bool json = false;
};

/// Tells of a total that is known only once the work has begun.
class VerifyProgress {
 public:
  void advance(std::size_t all) {
    if (!progress_) progress_.emplace("cache verify", static_cast<std::int64_t>(all));
    progress_->advance();
  }

 private:
  std::optional<Progress> progress_;
};

cache::Verified verify_folder(const cache::CacheOptions& options) {
  VerifyProgress progress;
  return folder_of(options).verify(
      [&](std::size_t /*done*/, std::size_t all) { progress.advance(all); });
}

void verify_layer(const RecordPlace& place, cache::Verified& verified) {
  Progress progress("cache verify, " + place.where(),
                    static_cast<std::int64_t>(place.keys().size()));
  for (const cache::Digest& key : place.keys()) {
    if (const auto record = place.find(key)) {
      ++verified.whole;
      verified.bytes += cache::encode(*record).size();
    } else {
      verified.damaged.push_back(
          {place.where(), fmt::format("the record {} is damaged", key.hex())});
    }
    progress.advance();
  }
}

Json verified_json(const cache::Verified& verified) {
  Json damaged = Json::array();
  for (const auto& damage : verified.damaged)
    damaged.push_back({{"path", damage.path.string()}, {"problem", damage.sentence}});
  return {{"whole", verified.whole}, {"bytes", verified.bytes}, {"damaged", damaged}};
}

std::string sentence(const cache::Verified& verified) {
  const std::size_t records = verified.whole + verified.damaged.size();
  const std::string size = human_bytes(static_cast<double>(verified.bytes));
  if (verified.damaged.empty()) return fmt::format("{} records, {}, all whole", records, size);
  return fmt::format("{} records, {}, {} damaged; `jitbag cache prune` removes those of the folder",
                     records, size, verified.damaged.size());
}

int run(const VerifyOptions& options) {
  const cache::CacheOptions cache_options = cache_options_here();
  cache::Verified verified = verify_folder(cache_options);
  if (options.all) {
    cache::CacheOptions layers_only = cache_options;
    layers_only.directory.reset();
    for (const RecordPlace& place : all_places(layers_only)) verify_layer(place, verified);
    for (const UnusableLayer& layer : unusable_layers(cache_options))
      verified.damaged.push_back({layer.path, layer.problem});
  }
  if (wants_json(options.json)) {
    print_json(verified_json(verified));
    std::fflush(stdout);
    print_error(sentence(verified) + "\n");
  } else {
    for (const auto& damage : verified.damaged)
      fmt::print("{}: {}\n", damage.path.string(), damage.sentence);
    fmt::print("{}\n", sentence(verified));
  }
  return verified.damaged.empty() ? exit_done : exit_failed;
}

}  // namespace

Command add_cache_verify(CLI::App& cache) {
  CLI::App* arguments = cache.add_subcommand(
      "verify", "Read every record and check it; exit status 1 if one is damaged");
  auto options = std::make_shared<VerifyOptions>();
  arguments->add_flag("--all", options->all, "Those of the layers too");
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  return {arguments, [options] { return run(*options); }};
}

}  // namespace jitbag::tools
