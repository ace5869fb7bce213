#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "arguments.hpp"
#include "command.hpp"
#include "file.hpp"
#include "jitbag/engine.hpp"
#include "jitbag/error.hpp"
#include "kernel_lists.hpp"
#include "output.hpp"
#include "why.hpp"

namespace jitbag::tools {
namespace {

struct SourceOptions {
  std::string architecture = "sm_90";
  KernelFlags kernel;
  bool info = false;
  bool why = false;
  bool json = false;
  std::string cubin_file;
};

void print_source(const Specialisation& specialisation, bool json) {
  if (!json) {
    fmt::print("{}", specialisation.source);
    return;
  }
  print_json({{"name", specialisation.name},
              {"entry", specialisation.entry},
              {"arch", to_text(specialisation.target)},
              {"options", specialisation.options},
              {"source", specialisation.source}});
}

Json times_json(const MakeTimes& times) {
  return {{"codegen_ms", number(times.codegen_ms)},
          {"disk_ms", number(times.disk_ms)},
          {"remote_ms", number(times.remote_ms)},
          {"open_ms", number(times.open_ms)},
          {"compile_ms", number(times.compile_ms)}};
}

void print_info(const KernelRequest& request, const Specialisation& specialisation,
                const Artifact& artifact, bool json) {
  const MakeTimes& times = artifact.times;
  if (wants_json(json)) {
    print_json({{"spec", spec_text(request)},
                {"arch", to_text(specialisation.target)},
                {"key", artifact.key},
                {"entry", artifact.entry},
                {"compiler", artifact.compiler},
                {"options", specialisation.options},
                {"kernel_source", name(artifact.origin)},
                {"kernel_source_path", artifact.place.empty() ? Json() : Json(artifact.place)},
                {"registers", artifact.registers},
                {"shared_bytes", artifact.shared_bytes},
                {"spill_bytes", artifact.spill_bytes},
                {"cubin_bytes", artifact.cubin.size()},
                {"source_bytes", specialisation.source.size()},
                {"times", times_json(times)},
                {"log", artifact.log}});
    return;
  }
  fmt::print("{}", name_value_lines({
                       {"spec", spec_text(request)},
                       {"architecture", to_text(specialisation.target)},
                       {"key", artifact.key},
                       {"entry", artifact.entry},
                       {"compiler", artifact.compiler},
                       {"came from", std::string(name(artifact.origin))},
                       {"registers", fmt::format("{} a thread", artifact.registers)},
                       {"shared memory", fmt::format("{} bytes a block", artifact.shared_bytes)},
                       {"spills", fmt::format("{} bytes", artifact.spill_bytes)},
                       {"machine code", fmt::format("{} bytes", artifact.cubin.size())},
                       {"source", fmt::format("{} bytes", specialisation.source.size())},
                       {"codegen", fmt::format("{:.3f} ms", times.codegen_ms)},
                       {"disk", fmt::format("{:.3f} ms", times.disk_ms)},
                       {"opening NVRTC", fmt::format("{:.3f} ms", times.open_ms)},
                       {"compile", fmt::format("{:.3f} ms", times.compile_ms)},
                   }));
}

int run(const SourceOptions& options) {
  const KernelRequest request =
      kernel_requests({kernel_lists(options.kernel, {parse_target(options.architecture)})}).front();
  const Specialisation kernel = specialisation(request);
  if (!options.info && !options.why && options.cubin_file.empty()) {
    print_source(kernel, options.json);
    return exit_done;
  }
  Engine engine;
  if (options.why) {
    print_why(why(engine, kernel), request, options.json);
    return exit_done;
  }
  const Artifact artifact = engine.artifact(kernel);
  if (!options.cubin_file.empty()) write_file(options.cubin_file, artifact.cubin);
  if (options.info) print_info(request, kernel, artifact, options.json);
  return exit_done;
}

}  // namespace

Command add_source(CLI::App& program) {
  CLI::App* arguments = program.add_subcommand(
      "source", "Print the source of one kernel, or what the compiler made of it");
  auto options = std::make_shared<SourceOptions>();
  arguments->option_defaults()->always_capture_default();
  arguments->add_option("--arch", options->architecture, "Architecture to write it for")
      ->check(architecture())
      ->type_name("SM");
  add_operator_flag(*arguments, options->kernel);
  add_kernel_flags(*arguments, options->kernel, Lists::refused);
  CLI::Option* info =
      arguments->add_flag("--info", options->info,
                          "Compile it, or take it from the cache, and print key, entry, registers, "
                          "shared memory, spills, sizes and times");
  CLI::Option* cubin =
      arguments
          ->add_option("--out-cubin", options->cubin_file, "Write the machine code to this file")
          ->type_name("FILE");
  arguments
      ->add_flag("--why", options->why,
                 "Say where the cache has it, or else which record is nearest and what differs")
      ->excludes(info)
      ->excludes(cubin);
  arguments->add_flag("--json", options->json,
                      "JSON: the source with its options, or what --info or --why prints");
  return {arguments, [options] { return run(*options); }};
}

}  // namespace jitbag::tools
