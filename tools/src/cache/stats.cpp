#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cache/commands.hpp"
#include "cache/record_place.hpp"
#include "cache_here.hpp"
#include "cache_state.hpp"
#include "output.hpp"

namespace jitbag::tools {
namespace {

/// What the folder's list says; no record is opened for it.
struct Stats {
  std::string directory;
  std::uint64_t max_bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t leftovers = 0;
  std::optional<RecordPlace::Time> oldest_use = {};
  std::optional<RecordPlace::Time> newest_use = {};
  std::vector<cache::Producer> producers = {};
  std::vector<LayerState> layers = {};

  [[nodiscard]] std::optional<double> share() const {
    if (max_bytes == 0) return std::nullopt;
    return static_cast<double>(bytes) / static_cast<double>(max_bytes);
  }
};

Stats stats_of(const cache::CacheOptions& options) {
  const cache::DiskCache folder = folder_of(options);
  Stats stats{.directory = folder.directory().string(), .max_bytes = folder.max_bytes()};
  const std::vector<cache::Entry> entries = folder.entries();
  stats.records = entries.size();
  for (const cache::Entry& entry : entries) stats.bytes += entry.bytes;
  if (!entries.empty()) {
    const auto [oldest, newest] =
        std::ranges::minmax_element(entries, {}, &cache::Entry::last_used);
    stats.oldest_use = oldest->last_used;
    stats.newest_use = newest->last_used;
  }
  stats.leftovers = folder.leftovers();
  stats.producers = folder.producers();
  for (const auto& path : options.layers) stats.layers.push_back(look_at_layer(path, options));
  return stats;
}

Json time_json(const std::optional<RecordPlace::Time>& time) {
  return time ? Json(iso_time(*time)) : Json(nullptr);
}

Json stats_json(const Stats& stats) {
  Json producers = Json::array();
  for (const cache::Producer& producer : stats.producers)
    producers.push_back({{"id", producer.id}, {"description", producer.description}});
  return {{"directory", stats.directory},
          {"records", stats.records},
          {"bytes", stats.bytes},
          {"max_bytes", stats.max_bytes},
          {"share", number(stats.share())},
          {"oldest_use", time_json(stats.oldest_use)},
          {"newest_use", time_json(stats.newest_use)},
          {"leftovers", stats.leftovers},
          {"producers", producers},
          {"layers", to_json(stats.layers)}};
}

std::string limit_text(const Stats& stats) {
  const auto share = stats.share();
  if (!share) return "none";
  return fmt::format("{}, {:.1f} % used", human_bytes(static_cast<double>(stats.max_bytes)),
                     *share * 100);
}

void print_stats(const Stats& stats) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"cache folder", stats.directory},
      {"records",
       fmt::format("{}, {}", stats.records, human_bytes(static_cast<double>(stats.bytes)))},
      {"limit", limit_text(stats)}};
  if (stats.oldest_use) {
    lines.emplace_back("oldest use", iso_time(*stats.oldest_use));
    lines.emplace_back("newest use", iso_time(*stats.newest_use));
  }
  if (stats.leftovers > 0)
    lines.emplace_back("left behind",
                       fmt::format("{} files of processes that died; `jitbag cache prune` removes "
                                   "them",
                                   stats.leftovers));
  for (const cache::Producer& producer : stats.producers)
    lines.emplace_back("made by", producer.description);
  for (const auto& line : tools::lines(CacheState{.layers = stats.layers})) {
    if (line.first == "layer") lines.push_back(line);
  }
  fmt::print("{}", name_value_lines(lines));
}

int run_stats(bool json) {
  const Stats stats = stats_of(cache_options_here());
  if (wants_json(json))
    print_json(stats_json(stats));
  else
    print_stats(stats);
  return exit_done;
}

}  // namespace

Command add_cache_stats(CLI::App& cache) {
  CLI::App* arguments = cache.add_subcommand(
      "stats", "Count records and bytes, in the folder and in the layers; opens no record");
  auto json = std::make_shared<bool>(false);
  arguments->add_flag("--json", *json, "JSON on a terminal too");
  return {arguments, [json] { return run_stats(*json); }};
}

}  // namespace jitbag::tools
