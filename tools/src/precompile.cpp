#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>

#include "arguments.hpp"
#include "cache_here.hpp"
#include "command.hpp"
#include "file.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/engine.hpp"
#include "jitbag/error.hpp"
#include "kernel_lists.hpp"
#include "machine.hpp"
#include "output.hpp"
#include "precompile/interrupt.hpp"
#include "precompile/item.hpp"
#include "precompile/manifest.hpp"
#include "precompile/report.hpp"
#include "precompile/worker_processes.hpp"
#include "progress.hpp"

namespace jitbag::tools {
namespace {

constexpr std::uint64_t largest_manifest = std::uint64_t{16} << 20;

struct PrecompileOptions {
  std::string architectures;
  std::string manifest;
  KernelFlags kernels;
  std::int64_t jobs = processor_threads();
  bool dry_run = false;
  bool require_complete = false;
  bool json = false;
};

Aim aim_of(const PrecompileOptions& options) {
  if (options.dry_run) return Aim::plan;
  return options.require_complete ? Aim::complete : Aim::make;
}

std::vector<KernelLists> lists_of(const PrecompileOptions& options) {
  std::vector<Target> targets;
  if (!options.architectures.empty()) {
    for (const std::string& text : distinct_parts(options.architectures))
      targets.push_back(parse_target(text));
  }
  if (options.manifest.empty()) return {kernel_lists(options.kernels, targets)};
  const std::string text = read_file(options.manifest, largest_manifest);
  return parse_manifest(text, options.manifest == "-" ? "standard input" : options.manifest,
                        targets);
}

std::vector<Item> items_of(const PrecompileOptions& options) {
  std::vector<Item> items;
  for (const KernelRequest& request : kernel_requests(lists_of(options)))
    items.push_back({request});
  return items;
}

/// Looks each kernel up. NVRTC is not opened for that: it takes longer to open than a thousand
/// records to read.
void look_up_all(Engine& engine, std::vector<Item>& items, const Interrupt& interrupt) {
  Progress progress("precompile, looking", static_cast<std::int64_t>(items.size()));
  for (Item& item : items) {
    if (interrupt.count() > 0) return;
    item.outcome = look_up(engine, item.request);
    progress.advance();
  }
}

std::vector<std::size_t> missing(const std::vector<Item>& items) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (is_missing(items[i])) numbers.push_back(i);
  }
  return numbers;
}

/// Opens NVRTC.
void require_supported(const std::set<Target>& wanted) {
  const std::vector<Target> supported = compiler::supported_targets();
  std::vector<std::string> known;
  known.reserve(supported.size());
  for (const Target& target : supported) known.push_back(to_text(target));
  std::vector<std::string> unknown;
  for (const Target& target : wanted) {
    if (std::ranges::find(supported, target) == supported.end()) unknown.push_back(to_text(target));
  }
  if (!unknown.empty())
    throw Error(ErrorKind::invalid_argument,
                fmt::format("NVRTC {} cannot compile for {}; it knows {}.", compiler::version(),
                            fmt::join(unknown, ", "), fmt::join(known, ", ")));
}

void require_folder(const cache::Cache& cache) {
  if (cache.folder() == nullptr)
    throw Error(ErrorKind::io_failed,
                "There is no folder to keep the kernels in: set JITBAG_CACHE_DIR or HOME to an "
                "absolute path.");
  const auto health = cache.folder()->health();
  if (!health.usable) throw Error(ErrorKind::io_failed, health.sentence);
}

/// Before any work starts. Where NVRTC is not installed, a remote may still have the kernels.
void require_ready(const cache::Cache& cache, const std::vector<Item>& items) {
  std::set<Target> wanted;
  for (const std::size_t number : missing(items)) wanted.insert(items[number].request.target);
  if (compiler::find() || cache.remote() == nullptr) require_supported(wanted);
  require_folder(cache);
}

/// The layers were looked into already, so the workers look in the folder alone. NVRTC is open by
/// now, and each worker inherits that: it starts no thread, neither when it is opened nor later.
void make_missing(cache::CacheOptions cache_options, std::vector<Item>& items, std::size_t jobs,
                  const Interrupt& interrupt) {
  const std::vector<std::size_t> numbers = missing(items);
  Progress progress("precompile", static_cast<std::int64_t>(numbers.size()));
  cache_options.layers.clear();
  Engine engine({.cache = cache_options});  // each worker has it to itself; here it stays unused
  Counts counts = count(items);
  const auto tell = [&] {
    progress.now(fmt::format("{} already there, {} failed", counts.cached, counts.failed));
  };
  const auto answered = [&](const Answer& answer) {
    Outcome& outcome = items[answer.piece].outcome;
    outcome =
        answer.problem.empty() ? from_message(answer.text) : Outcome{.problem = answer.problem};
    if (!outcome.problem.empty()) ++counts.failed;
    tell();
    progress.advance();
  };
  run_in_processes(
      {.pieces = numbers,
       .workers = std::min(jobs, numbers.size()),
       .work = [&](std::size_t number) { return to_message(make(engine, items[number].request)); },
       .answered = answered,
       .waiting = tell},
      interrupt);
}

/// A folder whose limit is below what was asked for does not keep it.
void fail_what_has_left(const cache::DiskCache& folder, std::vector<Item>& items) {
  for (Item& item : items) {
    if (!item.outcome.origin || item.outcome.place != folder.directory()) continue;
    const auto key = cache::Digest::from_hex(item.outcome.key);
    std::error_code ignored;
    if (key && std::filesystem::exists(folder.path_of(*key), ignored)) continue;
    item.outcome = {.problem = fmt::format(
                        "It left the cache again to make room for others: the folder keeps at most "
                        "{}; raise JITBAG_CACHE_MAX_BYTES.",
                        human_bytes(static_cast<double>(folder.max_bytes())))};
  }
}

void say_failures(const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (!item.outcome.problem.empty())
      say_error(fmt::format("{} for {}: {}", spec_text(item.request), to_text(item.request.target),
                            item.outcome.problem));
  }
}

/// Why nothing can be found where it might well be there.
void say_if_keys_are_unknown(const cache::Cache& cache) {
  if (!compiler::find() && cache.producers().empty())
    say_error(
        "No kernel can be looked up: there is no NVRTC to be used here, and neither the cache "
        "folder "
        "nor a layer says with which one its kernels were made; see `jitbag doctor`.");
}

/// The exit status, with what a person must know on standard error.
int conclude(const Report& report) {
  const Counts counts = count(report.items);
  say_failures(report.items);
  if (report.is_interrupted) {
    say_error(fmt::format("Interrupted: {} done, {} left; run the same command to go on.",
                          report.items.size() - counts.missing, counts.missing));
    return exit_failed;
  }
  if (report.aim == Aim::complete && counts.missing > 0) {
    say_error(
        fmt::format("{} of {} kernels are missing; compile them with the same command without "
                    "--require-complete, or ship a bundle that has them.",
                    counts.missing, report.items.size()));
    return exit_failed;
  }
  return counts.failed == 0 ? exit_done : exit_failed;
}

int run(const PrecompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Item> items = items_of(options);
  const Aim aim = aim_of(options);
  const cache::CacheOptions cache_options = cache_options_here();
  Engine engine({.cache = cache_options});
  const Interrupt interrupt;
  look_up_all(engine, items, interrupt);
  if (interrupt.count() == 0 && !missing(items).empty()) {
    if (aim != Aim::make) {
      say_if_keys_are_unknown(engine.cache());
    } else {
      require_ready(engine.cache(), items);
      make_missing(cache_options, items, static_cast<std::size_t>(options.jobs), interrupt);
      fail_what_has_left(*engine.cache().folder(), items);
    }
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  Report report{.items = items,
                .aim = aim,
                .seconds = elapsed.count(),
                .is_interrupted = interrupt.count() > 0 && !missing(items).empty()};
  if (cache_options.directory) report.cache_directory = cache_options.directory->string();
  print_report(report, options.json);
  return conclude(report);
}

/// A manifest says all that these flags say.
void require_consistent(const CLI::App& arguments, const PrecompileOptions& options) {
  if (options.manifest.empty()) {
    if (options.architectures.empty()) throw UsageError("--arch is required, or --manifest");
    return;
  }
  constexpr const char* because = "the manifest says it";
  refuse_beside(arguments, "--operator", "--manifest", because);
  for (const KernelAxis& axis : kernel_axes())
    refuse_beside(arguments, axis.flag(), "--manifest", because);
}

}  // namespace

Command add_precompile(CLI::App& program) {
  CLI::App* arguments = program.add_subcommand(
      "precompile", "Compile kernels into the cache folder, without a GPU, for any architectures");
  auto options = std::make_shared<PrecompileOptions>();
  arguments->option_defaults()->always_capture_default();
  arguments
      ->add_option("--arch", options->architectures,
                   "Architectures, such as sm_80,sm_90,sm_100; required without a manifest, and "
                   "taken instead of its own with one")
      ->check(list_of(architecture()))
      ->type_name("LIST")
      ->default_str("");
  arguments
      ->add_option("--manifest", options->manifest,
                   "JSON file with the kernels, instead of the flags below; - is standard input")
      ->type_name("FILE");
  add_operator_flag(*arguments, options->kernels);
  add_kernel_flags(*arguments, options->kernels, Lists::allowed);
  constexpr std::int64_t most_jobs = 1024;
  arguments->add_option("--jobs", options->jobs, "Processes that compile at the same time")
      ->check(whole_number(1, most_jobs))
      ->type_name("N");
  CLI::Option* dry_run = arguments->add_flag("--dry-run", options->dry_run,
                                             "Say what would be compiled and what is there");
  arguments
      ->add_flag("--require-complete", options->require_complete,
                 "Compile nothing; exit status 1, with a list, if a kernel is missing")
      ->excludes(dry_run);
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  arguments->footer(
      "A LIST is one value or several with commas between them; every combination is compiled.\n"
      "A manifest has the same names and one value or a list of each; numbers may be ranges:\n"
      "  {\"jitbag_manifest\": 1, \"arch\": [\"sm_80\", \"sm_90\"], \"kernels\": [\n"
      "    {\"embedding_dim\": {\"from\": 32, \"to\": 256, \"step\": 32},\n"
      "     \"embedding_bag_size\": {\"from\": 1, \"to\": 64, \"times\": 2}, \"dtype\": "
      "\"float16\"},\n"
      "    {\"layout\": \"csr\", \"embedding_dim\": 128, \"padding_id\": [0, null]}]}\n"
      "What is in the cache folder or a layer is not compiled again. Ctrl-C ends with what is\n"
      "compiled by then kept; the same command goes on.\n"
      "The folder is $JITBAG_CACHE_DIR, else $XDG_CACHE_HOME/jitbag, else ~/.cache/jitbag.\n"
      "`jitbag bench` uses the same kernels: its padding id is 0, and it plans for its batch\n"
      "(--expected-batch).");
  return {arguments, [arguments, options] {
            require_consistent(*arguments, *options);
            return run(*options);
          }};
}

}  // namespace jitbag::tools
