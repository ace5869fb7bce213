#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "arguments.hpp"
#include "command.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/engine.hpp"
#include "jitbag/error.hpp"
#include "kernel_request.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "version.hpp"

namespace jitbag::tools {
namespace {

/// More threads gain little: NVRTC serialises part of its work.
constexpr unsigned most_threads = 2;

struct Options {
  std::string architectures;
  KernelFlags kernels;
  bool json = false;
};

/// One kernel to have on disk, and how it went.
struct Item {
  ForwardSpec spec;
  Specialisation specialisation;
  std::optional<Artifact> artifact;
  std::string problem;
};

std::vector<Target> targets_of(const std::string& list) {
  std::vector<Target> targets;
  for (const std::string& text : distinct_parts(list)) targets.push_back(parse_target(text));
  // The newest first: it is the one that an NVRTC is most likely not to know.
  std::sort(targets.rbegin(), targets.rend());
  return targets;
}

std::vector<Item> items_of(const Options& options, const std::vector<Target>& targets) {
  std::vector<Item> items;
  for (const ForwardSpec& spec : forward_specs(options.kernels)) {
    for (const Target& target : targets)
      items.push_back({spec, specialisation(spec, options.kernels, target), std::nullopt, {}});
  }
  return items;
}

void require_supported(const std::vector<Target>& targets) {
  const std::vector<Target> supported = compiler::supported_targets();
  std::vector<std::string> names;
  names.reserve(supported.size());
  for (const Target& target : supported) names.push_back(to_text(target));
  for (const Target& target : targets) {
    if (std::find(supported.begin(), supported.end(), target) == supported.end())
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("NVRTC {} cannot compile for {}; it knows {}.", compiler::version(),
                              to_text(target), fmt::join(names, ", ")));
  }
}

cache::DiskCache folder() {
  const auto directory = cache::default_directory();
  if (!directory)
    throw Error(ErrorKind::io_failed,
                "There is no folder to keep the kernels in: set JITBAG_CACHE_DIR or HOME to an "
                "absolute path.");
  return cache::DiskCache(*directory, [](std::string_view) {});
}

void require_usable(const cache::DiskCache& cache) {
  const auto health = cache.health();
  if (!health.usable) throw Error(ErrorKind::io_failed, health.sentence);
}

void make(Engine& engine, Item& item) {
  try {
    item.artifact = engine.artifact(item.specialisation);
    if (!item.artifact->is_on_disk) {
      item.problem =
          "It compiled, but its record could not be written to the cache; see that the disk has "
          "room.";
      item.artifact.reset();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::missing_library) throw;
    item.problem = error.what();
    if (!error.details().empty()) item.problem += "\n" + error.details();
  }
}

/// The first kernel of each architecture. What comes from disk needs no NVRTC, which takes longer
/// to open than all the records to read; so it is asked what it supports only when the first
/// record is found missing, and before there is more to compile.
void make_first_of_each(Engine& engine, std::vector<Item>& items,
                        const std::vector<Target>& targets, const cache::DiskCache& cache,
                        Progress& progress) {
  bool checked = false;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    make(engine, items[i]);
    progress.advance();
    const bool from_disk = items[i].artifact && items[i].artifact->origin == KernelOrigin::disk;
    if (from_disk || checked) continue;
    require_supported(targets);
    require_usable(cache);
    checked = true;
  }
}

void make_rest(Engine& engine, std::vector<Item>& items, std::size_t first, Progress& progress) {
  std::atomic<std::size_t> next = first;
  std::exception_ptr stopped;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < items.size(); i = next++) {
        make(engine, items[i]);
        progress.advance();
      }
    } catch (...) {
      next = items.size();
      const std::lock_guard lock(mutex);
      stopped = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t wanted = std::min<std::size_t>(
        std::min(most_threads, std::thread::hardware_concurrency()), items.size() - first);
    for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
    work();
  }
  if (stopped) std::rethrow_exception(stopped);
}

struct Summary {
  std::int64_t compiled = 0, cached = 0, failed = 0;
  double seconds = 0;
  std::string directory;
};

Summary summarise(const std::vector<Item>& items, const cache::DiskCache& cache, double seconds) {
  Summary summary{.seconds = seconds, .directory = cache.directory().string()};
  for (const Item& item : items) {
    if (!item.artifact)
      ++summary.failed;
    else if (item.artifact->origin == KernelOrigin::compiled)
      ++summary.compiled;
    else
      ++summary.cached;
  }
  return summary;
}

Json kernel_json(const Item& item) {
  Json json = {{"arch", to_text(item.specialisation.target)}, {"spec", to_text(item.spec)}};
  if (!item.artifact) {
    json["error"] = item.problem;
    return json;
  }
  const Artifact& artifact = *item.artifact;
  json["kernel_source"] = name(artifact.origin);
  json["key"] = artifact.key;
  json["cubin_bytes"] = artifact.cubin.size();
  json["registers"] = artifact.registers;
  json["spill_bytes"] = artifact.spill_bytes;
  json["disk_ms"] = number(artifact.times.disk_ms);
  json["compile_ms"] = number(artifact.times.compile_ms);
  return json;
}

void print_report(const Options& options, const std::vector<Target>& targets,
                  const std::vector<Item>& items, const Summary& summary) {
  if (!wants_json(options.json)) {
    fmt::print("{} compiled, {} already there, {} failed, in {:.2f} s\n{}\n", summary.compiled,
               summary.cached, summary.failed, summary.seconds, summary.directory);
    return;
  }
  Json json = {{"operator", options.kernels.operator_name}, {"jitbag_version", version}};
  for (const Target& target : targets) json["architectures"].push_back(to_text(target));
  json["compiled"] = summary.compiled;
  json["cached"] = summary.cached;
  json["failed"] = summary.failed;
  json["seconds"] = number(summary.seconds);
  json["cache_directory"] = summary.directory;
  for (const Item& item : items) json["kernels"].push_back(kernel_json(item));
  print_json(json);
}

int run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Target> targets = targets_of(options.architectures);
  std::vector<Item> items = items_of(options, targets);
  const cache::DiskCache cache = folder();
  Engine engine({.cache = cache::CacheOptions{.directory = cache.directory()}});
  {
    Progress progress("precompile", static_cast<std::int64_t>(items.size()));
    make_first_of_each(engine, items, targets, cache, progress);
    make_rest(engine, items, targets.size(), progress);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const Summary summary = summarise(items, cache, elapsed.count());
  if (summary.compiled > 0) require_usable(cache);
  print_report(options, targets, items, summary);
  for (const Item& item : items) {
    if (!item.artifact) say_error(item.problem);
  }
  return summary.failed == 0 ? exit_done : exit_failed;
}

}  // namespace

Command add_precompile(CLI::App& program) {
  CLI::App* arguments = program.add_subcommand(
      "precompile", "Compile kernels into the cache folder, without a GPU, for any architectures");
  auto options = std::make_shared<Options>();
  arguments->option_defaults()->always_capture_default();
  arguments
      ->add_option("--arch", options->architectures, "Architectures, such as sm_80,sm_90,sm_100")
      ->check(list_of(architecture()))
      ->required()
      ->type_name("LIST")
      ->default_str("");
  add_kernel_flags(*arguments, options->kernels, Lists::allowed);
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  arguments->footer(
      "A LIST is one value or several with commas between them; every combination is compiled.\n"
      "The folder is $JITBAG_CACHE_DIR, else $XDG_CACHE_HOME/jitbag, else ~/.cache/jitbag.\n"
      "`jitbag bench` uses the same kernels: its padding id is 0, and it plans for its batch\n"
      "(--expected-batch).");
  return {arguments, [options] { return run(*options); }};
}

}  // namespace jitbag::tools
