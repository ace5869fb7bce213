#pragma once

#include "command.hpp"

/// The subcommands of `jitbag wisdom`, one file each.
namespace jitbag::tools {

[[nodiscard]] Command add_wisdom_list(CLI::App& wisdom);
[[nodiscard]] Command add_wisdom_export(CLI::App& wisdom);
[[nodiscard]] Command add_wisdom_import(CLI::App& wisdom);
[[nodiscard]] Command add_wisdom_merge(CLI::App& wisdom);

}  // namespace jitbag::tools
