#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "arguments.hpp"
#include "jitbag/error.hpp"
#include "wisdom/commands.hpp"
#include "wisdom_state.hpp"

namespace jitbag::tools {
namespace {

struct WisdomExportOptions {
  std::string file;
  std::string device;
  bool json = false;
};

int run_wisdom_export(const WisdomExportOptions& options) {
  const WisdomFolder folder = wisdom_folder_here();
  WisdomText found = folder.read();
  if (!options.device.empty())
    std::erase_if(found.models,
                  [&](const Wisdom& model) { return model.device() != options.device; });
  if (count_findings(found.models) == 0)
    throw Error(ErrorKind::io_failed,
                fmt::format("There is no wisdom{} in {} to export.",
                            options.device.empty() ? "" : " for " + options.device,
                            folder.directory().string()));
  return write_wisdom_file(options.file, found, options.json);
}

}  // namespace

Command add_wisdom_export(CLI::App& wisdom) {
  CLI::App* arguments = wisdom.add_subcommand(
      "export", "Write the findings of all device models into one file, to ship");
  auto options = std::make_shared<WisdomExportOptions>();
  arguments->add_option("FILE", options->file, "The file; one that is there is replaced")
      ->check(file_name())
      ->required();
  arguments->add_option("--device", options->device, "Only of this model, such as 'NVIDIA H200'")
      ->type_name("NAME");
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  arguments->footer(
      "The same findings give the same bytes. Exit status 1 if something in the folder is "
      "damaged,\n"
      "and so is not in the file.");
  return {arguments, [options] { return run_wisdom_export(*options); }};
}

}  // namespace jitbag::tools
