#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cache/commands.hpp"
#include "cache_here.hpp"
#include "cache_state.hpp"

namespace jitbag::tools {
namespace {

Json state_json(const CacheState& state) {
  return {{"folder", state.folder ? to_json(*state.folder) : Json(nullptr)},
          {"layers", to_json(state.layers)},
          {"remote", to_json(state.remote)}};
}

int run_path(bool json) {
  const CacheState state = look_at_cache(cache_options_here(), MissingFolder::leave);
  if (wants_json(json))
    print_json(state_json(state));
  else
    fmt::print("{}", name_value_lines(lines(state)));
  return exit_done;
}

}  // namespace

Command add_cache_path(CLI::App& cache) {
  CLI::App* arguments = cache.add_subcommand(
      "path", "Say where kernels are looked for and kept, and how it stands with each place");
  auto json = std::make_shared<bool>(false);
  arguments->add_flag("--json", *json, "JSON on a terminal too");
  return {arguments, [json] { return run_path(*json); }};
}

}  // namespace jitbag::tools
