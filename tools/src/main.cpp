#include <fcntl.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <new>

#include "arguments.hpp"
#include "command.hpp"
#include "help_formatter.hpp"
#include "jitbag/error.hpp"
#include "output.hpp"
#include "version.hpp"

namespace {

using namespace jitbag::tools;

constexpr const char* description =
    "jitbag compiles embedding-bag kernels at run time, each for exactly the work in hand, and "
    "never\n"
    "compiles the same kernel twice.\n"
    "Exit status: 0 done, 1 it ran and something failed, 2 the arguments are wrong.";

/// Whoever starts us without one of the three gets /dev/null there, and not the next file that is
/// opened: what we print would go into it.
void open_what_is_closed() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDWR);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

/// Standard output is for results alone.
void send_warnings_to_standard_error() {
  auto logger = spdlog::stderr_color_mt("jitbag");
  logger->set_pattern("%v");
  spdlog::set_default_logger(std::move(logger));
}

/// The last of the nested subcommands that were named.
const CLI::App& innermost(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : innermost(*named.front());
}

/// Where another word stands in place of a subcommand: that word, and the subcommands there are.
std::string what_is_required(const CLI::App& program, const CLI::RequiredError& error) {
  const CLI::App& app = innermost(program);
  const std::vector<std::string> rest = app.remaining();
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(subcommand->get_name());
  if (rest.empty() || names.empty()) return error.what();
  std::string word = rest.front();
  return one_of(names)(word);
}

int run(int argc, char** argv) {
  CLI::App program(description, "jitbag");
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_version_flag("--version", std::string("jitbag ") + version);
  program.require_subcommand(1);
  const std::array commands = {add_bench(program), add_precompile(program), add_source(program),
                               add_cache(program), add_wisdom(program),     add_doctor(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& answer) {  // --help and --version
    return program.exit(answer);
  } catch (const CLI::RequiredError& error) {
    throw UsageError(what_is_required(program, error));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  for (const Command& command : commands) {
    if (command.arguments->parsed()) return command.run();
  }
  return exit_usage;
}

}  // namespace

int main(int argc, char** argv) {
  open_what_is_closed();
  send_warnings_to_standard_error();
  try {
    const int status = run(argc, argv);
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
      say_error("The output could not be written; see that its file or pipe takes it.");
      return exit_failed;
    }
    return status;
  } catch (const UsageError& error) {
    say_error(error.what());
    return exit_usage;
  } catch (const jitbag::Error& error) {
    say_error(error.what());
    if (!error.details().empty()) std::cerr << error.details() << '\n';
  } catch (const std::bad_alloc&) {
    say_error("There is not enough memory for this; try a smaller table or batch.");
  } catch (const std::exception& error) {
    say_error(error.what());
  }
  return exit_failed;
}
