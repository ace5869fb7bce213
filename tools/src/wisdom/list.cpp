#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "arguments.hpp"
#include "cache_here.hpp"
#include "wisdom/commands.hpp"
#include "wisdom_state.hpp"

namespace jitbag::tools {
namespace {

struct WisdomListOptions {
  std::string device;
  std::string spec;
  std::string in;
  bool verbose = false;
  bool json = false;
};

/// The findings whose spec has the text, of the device that is asked for.
std::vector<Wisdom> wanted(const std::vector<Wisdom>& models, const WisdomListOptions& options) {
  std::vector<Wisdom> found;
  for (const Wisdom& model : models) {
    if (!options.device.empty() && model.device() != options.device) continue;
    Wisdom fitting(model.device());
    for (const Finding& finding : model.findings()) {
      if (finding.spec.find(options.spec) != std::string::npos) fitting.add(finding);
    }
    found.push_back(std::move(fitting));
  }
  return found;
}

void print_lines(const std::vector<Wisdom>& models, const WisdomListOptions& options) {
  std::vector<std::string> heading = {"device", "from batch", "us", "rule us", "date", "spec"};
  if (options.verbose) heading.insert(heading.end(), {"strategy", "ids", "L2", "driver"});
  Table table(heading);
  for (const Wisdom& model : models) {
    for (const Finding& finding : model.findings()) {
      std::vector<std::string> row = {
          model.device(),
          finding.smallest_batch == 0 ? "none" : std::to_string(finding.smallest_batch),
          fmt::format("{:.2f}", finding.time.median_us),
          fmt::format("{:.2f}", finding.rule_time.median_us),
          finding.date,
          finding.spec};
      if (options.verbose)
        row.insert(row.end(), {fmt::format("{}", fmt::join(finding.strategies, "; ")), finding.ids,
                               finding.l2 == L2Cache::cold ? "cold" : "warm", finding.driver});
      table.add(std::move(row));
    }
  }
  fmt::print("{}", table.text());
}

/// As in a file of wisdom, with the reason why a finding is ignored.
Json models_json(const std::vector<Wisdom>& models) {
  Json json = Json::parse(to_text(models)).at("models");
  for (std::size_t m = 0; m < models.size(); ++m) {
    const std::vector<Finding>& findings = models[m].findings();
    for (std::size_t f = 0; f < findings.size(); ++f) {
      const std::string reason = why_ignored(findings[f]);
      json[m]["findings"][f]["ignored"] = reason.empty() ? Json(nullptr) : Json(reason);
    }
  }
  return json;
}

int run_wisdom_list(const WisdomListOptions& options) {
  const std::string place =
      options.in.empty() ? wisdom_folder_here().directory().string() : options.in;
  const WisdomText found =
      options.in.empty() ? WisdomFolder(place).read() : read_wisdom_file(options.in);
  const std::vector<Wisdom> models = wanted(found.models, options);
  const std::vector<std::string> ignored = ignored_wisdom(found);
  if (wants_json(options.json)) {
    print_json({{"place", place},
                {"count", count_findings(models)},
                {"strategy_space", strategy_space()},
                {"models", models_json(models)},
                {"ignored", ignored}});
    return exit_done;
  }
  print_lines(models, options);
  for (const std::string& sentence : ignored) warn("ignored: " + sentence);
  return exit_done;
}

}  // namespace

Command add_wisdom_list(CLI::App& wisdom) {
  CLI::App* arguments = wisdom.add_subcommand(
      "list", "List the findings: device, batch, time beside that of the built-in rule, spec");
  auto options = std::make_shared<WisdomListOptions>();
  arguments->add_option("--device", options->device, "Only of this model, such as 'NVIDIA H200'")
      ->type_name("NAME");
  arguments->add_option("--spec", options->spec, "Only those with this text in their spec")
      ->type_name("TEXT");
  arguments->add_option("--in", options->in, "A file of wisdom, instead of the folder")
      ->check(file_name())
      ->type_name("FILE");
  arguments->add_flag("--verbose", options->verbose, "With strategies and conditions");
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  return {arguments, [options] { return run_wisdom_list(*options); }};
}

}  // namespace jitbag::tools
