#include <CLI/CLI.hpp>
#include <array>

#include "arguments.hpp"
#include "cache/commands.hpp"

namespace jitbag::tools {

Command add_cache(CLI::App& program) {
  CLI::App* arguments = program.add_subcommand(
      "cache", "Look into the cache folder and its layers, keep it in order, ship it");
  arguments->require_subcommand(1);
  arguments->footer(
      "The folder is $JITBAG_CACHE_DIR, else $XDG_CACHE_HOME/jitbag, else ~/.cache/jitbag; it "
      "keeps\n"
      "at most $JITBAG_CACHE_MAX_BYTES (1G). $JITBAG_CACHE_PATH has folders and bundles that are\n"
      "only read, with colons between them; $JITBAG_CACHE_REMOTE is the url of a web server.");
  const std::array commands = {
      add_cache_path(*arguments),  add_cache_list(*arguments),   add_cache_show(*arguments),
      add_cache_stats(*arguments), add_cache_verify(*arguments), add_cache_prune(*arguments),
      add_cache_clear(*arguments), add_cache_export(*arguments), add_cache_import(*arguments)};
  return {arguments, [commands] {
            for (const Command& command : commands) {
              if (command.arguments->parsed()) return command.run();
            }
            return exit_usage;
          }};
}

}  // namespace jitbag::tools
