#include <CLI/CLI.hpp>
#include <array>

#include "wisdom/commands.hpp"

namespace jitbag::tools {

Command add_wisdom(CLI::App& program) {
  CLI::App* arguments = program.add_subcommand(
      "wisdom", "Look into the strategies that were measured best, ship and merge them");
  arguments->require_subcommand(1);
  arguments->footer(
      "Wisdom is in the folder `wisdom` of the cache folder, a file for each device model. The\n"
      "engine uses it wherever no strategy is given, in place of the built-in rule.\n"
      "Of two findings for one spec and batch the later stays, of the same date the faster.");
  const std::array commands = {add_wisdom_list(*arguments), add_wisdom_export(*arguments),
                               add_wisdom_import(*arguments), add_wisdom_merge(*arguments)};
  return {arguments, [commands] {
            for (const Command& command : commands) {
              if (command.arguments->parsed()) return command.run();
            }
            return exit_usage;
          }};
}

}  // namespace jitbag::tools
