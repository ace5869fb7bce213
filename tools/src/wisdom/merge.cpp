#include <CLI/CLI.hpp>
#include <memory>

#include "arguments.hpp"
#include "wisdom/commands.hpp"
#include "wisdom_state.hpp"

namespace jitbag::tools {
namespace {

struct WisdomMergeOptions {
  std::vector<std::string> files;
  std::string out;
  bool json = false;
};

int run_wisdom_merge(const WisdomMergeOptions& options) {
  WisdomText all;
  for (const std::string& file : options.files) {
    const WisdomText given = read_wisdom_file(file);
    for (const Wisdom& model : given.models) merge(all.models, model);
    all.problems.insert(all.problems.end(), given.problems.begin(), given.problems.end());
  }
  return write_wisdom_file(options.out, all, options.json);
}

}  // namespace

Command add_wisdom_merge(CLI::App& wisdom) {
  CLI::App* arguments = wisdom.add_subcommand(
      "merge", "Merge files of wisdom into one, such as those of several machines");
  auto options = std::make_shared<WisdomMergeOptions>();
  arguments->add_option("FILE", options->files, "The files, in any order")
      ->check(file_name())
      ->required();
  arguments->add_option("--out", options->out, "The file to write; one that is there is replaced")
      ->check(file_name())
      ->type_name("FILE")
      ->required();
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  arguments->footer(
      "The folder is neither read nor written. Exit status 1 if something in a file is damaged, "
      "and\n"
      "so is not in the new one.");
  return {arguments, [options] { return run_wisdom_merge(*options); }};
}

}  // namespace jitbag::tools
