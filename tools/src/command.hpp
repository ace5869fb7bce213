#pragma once

#include <functional>

#include "cli11.hpp"

namespace jitbag::tools {

/// Exit statuses of the command; wrong arguments are a UsageError.
inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

/// One subcommand: its arguments, and what to do once they are parsed.
struct Command {
  CLI::App* arguments = nullptr;
  std::function<int()> run;
};

[[nodiscard]] Command add_bench(CLI::App& program);
[[nodiscard]] Command add_precompile(CLI::App& program);
[[nodiscard]] Command add_source(CLI::App& program);
[[nodiscard]] Command add_cache(CLI::App& program);
[[nodiscard]] Command add_wisdom(CLI::App& program);
[[nodiscard]] Command add_doctor(CLI::App& program);

}  // namespace jitbag::tools
