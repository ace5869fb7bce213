#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "arguments.hpp"
#include "cache/commands.hpp"
#include "cache/description.hpp"
#include "cache/record_place.hpp"
#include "cache_here.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace jitbag::tools {
namespace {

struct ListOptions {
  std::string architectures;
  std::string spec;
  std::string in;
  bool all = false;
  bool verbose = false;
  bool json = false;
};

struct Line {
  std::string key;
  Description description;
  std::uint64_t bytes = 0;
  std::optional<RecordPlace::Time> last_used;
  std::string place;
};

std::vector<RecordPlace> places_of(const ListOptions& options) {
  const cache::CacheOptions cache_options = cache_options_here();
  std::vector<RecordPlace> places;
  if (!options.in.empty())
    places.push_back(named_place(options.in, cache_options));
  else if (options.all)
    places = all_places(cache_options);
  else
    places.push_back(folder_place(cache_options));
  return places;
}

bool is_wanted(const Description& description, const ListOptions& options) {
  if (description.spec.find(options.spec) == std::string::npos) return false;
  if (options.architectures.empty()) return true;
  const auto wanted = distinct_parts(options.architectures);
  return std::ranges::find(wanted, description.arch) != wanted.end();
}

std::vector<Line> lines_of(const std::vector<RecordPlace>& places, const ListOptions& options) {
  std::int64_t records = 0;
  for (const RecordPlace& place : places) records += static_cast<std::int64_t>(place.keys().size());
  Progress progress("cache list", records);
  std::vector<Line> lines;
  for (const RecordPlace& place : places) {
    for (const cache::Digest& key : place.keys()) {
      progress.advance();
      const auto record = place.find(key);
      if (!record) continue;
      Line line{.key = key.hex(),
                .description = describe(*record),
                .bytes = cache::encode(*record).size(),
                .last_used = place.last_used(key),
                .place = place.where()};
      if (is_wanted(line.description, options)) lines.push_back(std::move(line));
    }
  }
  std::ranges::stable_sort(lines, {}, [](const Line& line) {
    return std::pair(line.description.spec, line.description.arch);
  });
  return lines;
}

std::string used_text(const Line& line) {
  return line.last_used ? iso_time(*line.last_used) : "-";
}

void print_lines(const std::vector<Line>& lines, const ListOptions& options) {
  std::vector<std::string> heading = {"key", "arch", "size", "last used"};
  if (options.all) heading.emplace_back("place");
  heading.emplace_back("spec");
  if (options.verbose) heading.emplace_back("strategy");
  Table table(heading);
  for (const Line& line : lines) {
    std::vector<std::string> row = {line.key.substr(0, 12), line.description.arch,
                                    human_bytes(static_cast<double>(line.bytes)), used_text(line)};
    if (options.all) row.push_back(line.place);
    row.push_back(line.description.spec);
    if (options.verbose) row.push_back(line.description.strategy);
    table.add(std::move(row));
  }
  fmt::print("{}", table.text());
}

Json lines_json(const std::vector<Line>& lines) {
  Json records = Json::array();
  std::uint64_t bytes = 0;
  for (const Line& line : lines) {
    bytes += line.bytes;
    records.push_back({{"key", line.key},
                       {"spec", line.description.spec},
                       {"strategy", line.description.strategy},
                       {"arch", line.description.arch},
                       {"compiler_build", line.description.compiler_build},
                       {"bytes", line.bytes},
                       {"last_used", line.last_used ? Json(iso_time(*line.last_used)) : Json()},
                       {"place", line.place}});
  }
  return {{"count", lines.size()}, {"bytes", bytes}, {"records", records}};
}

int run(const ListOptions& options) {
  const std::vector<Line> lines = lines_of(places_of(options), options);
  if (wants_json(options.json))
    print_json(lines_json(lines));
  else
    print_lines(lines, options);
  return exit_done;
}

}  // namespace

Command add_cache_list(CLI::App& cache) {
  CLI::App* arguments =
      cache.add_subcommand("list", "List the kernels: spec, architecture, size, time of use");
  auto options = std::make_shared<ListOptions>();
  arguments->add_option("--arch", options->architectures, "Only these, such as sm_80,sm_90")
      ->check(list_of(architecture()))
      ->type_name("LIST");
  arguments->add_option("--spec", options->spec, "Only those with this text in their spec")
      ->type_name("TEXT");
  CLI::Option* in =
      arguments->add_option("--in", options->in, "A bundle or a folder, instead of the cache")
          ->type_name("PATH");
  arguments->add_flag("--all", options->all, "Of the layers too")->excludes(in);
  arguments->add_flag("--verbose", options->verbose, "With the strategies");
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  return {arguments, [options] { return run(*options); }};
}

}  // namespace jitbag::tools
