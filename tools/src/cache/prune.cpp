#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "arguments.hpp"
#include "cache/commands.hpp"
#include "cache/record_place.hpp"
#include "cache/removed.hpp"
#include "cache_here.hpp"

namespace jitbag::tools {
namespace {

struct PruneOptions {
  std::string max_bytes;
  bool dry_run = false;
  bool json = false;
};

int run(const PruneOptions& options) {
  const cache::DiskCache folder = folder_of(cache_options_here());
  const std::uint64_t max_bytes = options.max_bytes.empty()
                                      ? folder.max_bytes()
                                      : cache::parse_bytes(options.max_bytes).value_or(0);
  const cache::Removed removed = folder.prune({.max_bytes = max_bytes, .dry_run = options.dry_run});
  if (wants_json(options.json)) {
    Json json = to_json(removed);
    json["max_bytes"] = max_bytes;
    json["dry_run"] = options.dry_run;
    print_json(json);
  } else {
    fmt::print("{}\n", to_text(removed, options.dry_run ? "would remove" : "removed"));
  }
  return exit_done;
}

}  // namespace

Command add_cache_prune(CLI::App& cache) {
  CLI::App* arguments = cache.add_subcommand(
      "prune", "Remove from the folder what is damaged, left over, or over the limit");
  auto options = std::make_shared<PruneOptions>();
  arguments
      ->add_option("--max-bytes", options->max_bytes,
                   "Keep at most this much, those used last, such as 512M; 0: no limit. Without "
                   "it: $JITBAG_CACHE_MAX_BYTES")
      ->check(byte_count())
      ->type_name("SIZE");
  arguments->add_flag("--dry-run", options->dry_run, "Remove nothing; say what would go");
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  return {arguments, [options] { return run(*options); }};
}

}  // namespace jitbag::tools
