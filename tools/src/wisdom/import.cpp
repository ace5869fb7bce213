#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "arguments.hpp"
#include "wisdom/commands.hpp"
#include "wisdom_state.hpp"

namespace jitbag::tools {
namespace {

struct WisdomImportOptions {
  std::string file;
  bool json = false;
};

int run_wisdom_import(const WisdomImportOptions& options) {
  const WisdomText given = read_wisdom_file(options.file);
  const WisdomFolder folder = wisdom_folder_here();
  std::size_t taken = 0;
  for (const Wisdom& model : given.models) taken += folder.merge(model);
  const std::size_t findings = count_findings(given.models);
  if (wants_json(options.json))
    print_json({{"file", options.file},
                {"directory", folder.directory().string()},
                {"findings", findings},
                {"taken", taken},
                {"already_there", findings - taken},
                {"ignored", given.problems}});
  else
    fmt::print("{} taken, {} already there or no better, {} ignored\n{}\n", taken, findings - taken,
               given.problems.size(), folder.directory().string());
  return exit_status_after(given.problems);
}

}  // namespace

Command add_wisdom_import(CLI::App& wisdom) {
  CLI::App* arguments =
      wisdom.add_subcommand("import", "Merge a file of wisdom into the folder that engines read");
  auto options = std::make_shared<WisdomImportOptions>();
  arguments->add_option("FILE", options->file, "The file, - for standard input")
      ->check(file_name())
      ->required();
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  arguments->footer("Exit status 1 if something in the file is damaged, and so is not taken.");
  return {arguments, [options] { return run_wisdom_import(*options); }};
}

}  // namespace jitbag::tools
