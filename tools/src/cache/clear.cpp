#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cache/commands.hpp"
#include "cache/record_place.hpp"
#include "cache/removed.hpp"
#include "cache_here.hpp"

namespace jitbag::tools {
namespace {

int run_clear(bool json) {
  const cache::Removed removed = folder_of(cache_options_here()).clear();
  if (wants_json(json))
    print_json(to_json(removed));
  else
    fmt::print("{}\n", to_text(removed, "removed"));
  return exit_done;
}

}  // namespace

Command add_cache_clear(CLI::App& cache) {
  CLI::App* arguments = cache.add_subcommand(
      "clear", "Remove every record from the folder; layers and the remote are left alone");
  auto json = std::make_shared<bool>(false);
  arguments->add_flag("--json", *json, "JSON on a terminal too");
  return {arguments, [json] { return run_clear(*json); }};
}

}  // namespace jitbag::tools
