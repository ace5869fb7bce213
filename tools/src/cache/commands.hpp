#pragma once

#include "command.hpp"

/// The subcommands of `jitbag cache`, one file each.
namespace jitbag::tools {

[[nodiscard]] Command add_cache_path(CLI::App& cache);
[[nodiscard]] Command add_cache_list(CLI::App& cache);
[[nodiscard]] Command add_cache_show(CLI::App& cache);
[[nodiscard]] Command add_cache_stats(CLI::App& cache);
[[nodiscard]] Command add_cache_verify(CLI::App& cache);
[[nodiscard]] Command add_cache_prune(CLI::App& cache);
[[nodiscard]] Command add_cache_clear(CLI::App& cache);
[[nodiscard]] Command add_cache_export(CLI::App& cache);
[[nodiscard]] Command add_cache_import(CLI::App& cache);

}  // namespace jitbag::tools
