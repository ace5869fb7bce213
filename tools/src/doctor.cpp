#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cache/record_place.hpp"
#include "cache_here.hpp"
#include "cache_state.hpp"
#include "command.hpp"
#include "jitbag/cache/error.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/device.hpp"
#include "jitbag/error.hpp"
#include "machine.hpp"
#include "output.hpp"
#include "version.hpp"
#include "wisdom_state.hpp"

namespace jitbag::tools {
namespace {

struct DriverState {
  std::optional<device::Driver> driver;
  std::vector<device::Info> gpus;
  std::string problem;
};

struct NvrtcState {
  std::optional<compiler::Library> library;
  std::string version;
  std::vector<std::string> architectures;
  std::vector<std::string> searched;
  std::string problem;
};

/// The cache, and what its folder has.
struct CacheContent {
  CacheState state;
  WisdomText wisdom = {};
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::string problem;  ///< why kernels are not kept
};

DriverState look_at_driver() {
  DriverState state;
  try {
    state.driver = device::driver();
    state.gpus = device::devices();
  } catch (const Error& error) {
    state.problem = error.what();
  }
  return state;
}

NvrtcState look_at_nvrtc() {
  NvrtcState state;
  state.searched = compiler::searched_places();
  state.library = compiler::find();
  try {
    state.version = compiler::version();
    for (const Target& target : compiler::supported_targets())
      state.architectures.push_back(to_text(target));
  } catch (const Error& error) {
    state.problem = error.what();
  }
  return state;
}

std::filesystem::path directory_of_wisdom(const CacheContent& cache) {
  return *wisdom_directory({.directory = cache.state.folder->directory});
}

CacheContent look_at_cache_content() {
  const cache::CacheOptions options = cache_options_here();
  CacheContent content{.state = look_at_cache(options, MissingFolder::make), .problem = {}};
  if (!content.state.folder) {
    content.problem = "There is no cache folder: set JITBAG_CACHE_DIR or HOME to an absolute path.";
    return content;
  }
  content.wisdom = WisdomFolder(directory_of_wisdom(content)).read();
  content.problem = content.state.folder->problem;
  if (!content.problem.empty()) return content;
  try {
    for (const cache::Entry& entry : folder_of(options).entries()) {
      ++content.records;
      content.bytes += entry.bytes;
    }
  } catch (const cache::Error& error) {
    content.problem = error.what();
  }
  return content;
}

/// All that keeps the cache from doing what the environment asks for.
std::vector<std::string> problems_of(const CacheContent& cache) {
  std::vector<std::string> problems;
  const auto add = [&](const std::string& problem) {
    if (!problem.empty()) problems.push_back(problem);
  };
  add(cache.problem);
  for (const LayerState& layer : cache.state.layers) add(layer.problem);
  if (cache.state.remote) add(cache.state.remote->problem);
  return problems;
}

Json cache_json(const CacheContent& cache) {
  Json json = cache.state.folder ? to_json(*cache.state.folder) : Json{{"directory", nullptr}};
  json["records"] = cache.records;
  json["bytes"] = cache.bytes;
  json["problem"] = cache.problem.empty() ? Json(nullptr) : Json(cache.problem);
  json["layers"] = to_json(cache.state.layers);
  json["remote"] = to_json(cache.state.remote);
  return json;
}

Json wisdom_json(const CacheContent& cache) {
  Json models = Json::array();
  for (const Wisdom& model : cache.wisdom.models)
    models.push_back({{"device", model.device()}, {"findings", model.findings().size()}});
  return {
      {"directory", cache.state.folder ? Json(directory_of_wisdom(cache).string()) : Json(nullptr)},
      {"strategy_space", strategy_space()},
      {"models", models},
      {"ignored", ignored_wisdom(cache.wisdom)}};
}

std::vector<std::pair<std::string, std::string>> wisdom_lines(const CacheContent& cache) {
  if (!cache.state.folder) return {};
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Wisdom& model : cache.wisdom.models)
    lines.emplace_back("wisdom",
                       fmt::format("{}: {} findings", model.device(), model.findings().size()));
  if (lines.empty())
    lines.emplace_back("wisdom", fmt::format("none in {}, so strategies follow the built-in rules",
                                             directory_of_wisdom(cache).string()));
  for (const std::string& sentence : ignored_wisdom(cache.wisdom))
    lines.emplace_back("  ignored", sentence);
  return lines;
}

Json problem_json(const std::string& problem) {
  return problem.empty() ? Json(nullptr) : Json(problem);
}

Json gpu_json(const device::Info& gpu) {
  return {{"ordinal", gpu.ordinal},      {"name", gpu.name},
          {"arch", to_text(gpu.target)}, {"multiprocessors", gpu.multiprocessors},
          {"l2_bytes", gpu.l2_bytes},    {"memory_bytes", gpu.memory_bytes}};
}

Json report_json(const DriverState& driver, const NvrtcState& nvrtc, const CacheContent& cache) {
  Json gpus = Json::array();
  for (const device::Info& gpu : driver.gpus) gpus.push_back(gpu_json(gpu));
  const auto driver_text = [&](std::string device::Driver::*member) {
    return driver.driver ? Json((*driver.driver).*member) : Json(nullptr);
  };
  const auto library_text = [&](const std::string& text) {
    return nvrtc.library ? Json(text) : Json(nullptr);
  };
  return {
      {"jitbag_version", version},
      {"driver",
       {{"path", driver_text(&device::Driver::path)},
        {"version", driver_text(&device::Driver::version)},
        {"problem", problem_json(driver.problem)}}},
      {"gpus", gpus},
      {"nvrtc",
       {{"path", library_text(nvrtc.library ? nvrtc.library->path.string() : "")},
        {"build_id", library_text(nvrtc.library ? nvrtc.library->build_id : "")},
        {"version", nvrtc.version.empty() ? Json(nullptr) : Json(nvrtc.version)},
        {"architectures", nvrtc.architectures},
        {"searched", nvrtc.searched},
        {"problem", problem_json(nvrtc.problem)}}},
      {"cache", cache_json(cache)},
      {"wisdom", wisdom_json(cache)},
      {"cpu", {{"name", processor_name()}, {"threads", processor_threads()}}},
  };
}

std::string report_text(const DriverState& driver, const NvrtcState& nvrtc,
                        const CacheContent& cache) {
  std::vector<std::pair<std::string, std::string>> lines = {{"jitbag", version}};
  if (driver.driver)
    lines.emplace_back("driver",
                       fmt::format("{}, CUDA {}", driver.driver->path, driver.driver->version));
  if (!driver.problem.empty()) lines.emplace_back("driver", driver.problem);
  for (const device::Info& gpu : driver.gpus)
    lines.emplace_back(
        fmt::format("GPU {}", gpu.ordinal),
        fmt::format("{}, {}, {} multiprocessors, {} of memory", gpu.name, to_text(gpu.target),
                    gpu.multiprocessors, human_bytes(static_cast<double>(gpu.memory_bytes))));
  if (nvrtc.library)
    lines.emplace_back("NVRTC", fmt::format("{}, build {}", nvrtc.library->path.string(),
                                            nvrtc.library->build_id));
  if (nvrtc.problem.empty()) {
    lines.emplace_back("NVRTC version", nvrtc.version);
    lines.emplace_back("compiles for", fmt::format("{}", fmt::join(nvrtc.architectures, ", ")));
  } else {
    lines.emplace_back("NVRTC", nvrtc.problem);
    for (const std::string& place : nvrtc.searched) lines.emplace_back("  looked in", place);
  }
  for (const auto& line : tools::lines(cache.state)) lines.push_back(line);
  lines.emplace_back("cache",
                     fmt::format("{} records, {}; `jitbag cache verify` checks them", cache.records,
                                 human_bytes(static_cast<double>(cache.bytes))));
  for (const auto& line : wisdom_lines(cache)) lines.push_back(line);
  lines.emplace_back("CPU", fmt::format("{}, {} threads", processor_name(), processor_threads()));
  return name_value_lines(lines);
}

int run_doctor(bool json) {
  const DriverState driver = look_at_driver();
  const NvrtcState nvrtc = look_at_nvrtc();
  const CacheContent cache = look_at_cache_content();
  if (wants_json(json))
    print_json(report_json(driver, nvrtc, cache));
  else
    fmt::print("{}", report_text(driver, nvrtc, cache));
  // Without a driver there is still precompile and the CPU; without these there is no compile.
  std::vector<std::string> problems = problems_of(cache);
  if (!nvrtc.problem.empty() && !compiler::is_turned_off())
    problems.insert(problems.begin(), nvrtc.problem);
  for (const std::string& problem : problems) say_error(problem);
  return problems.empty() ? exit_done : exit_failed;
}

}  // namespace

Command add_doctor(CLI::App& program) {
  CLI::App* arguments =
      program.add_subcommand("doctor",
                             "Tell what is found here: driver, GPUs, NVRTC and "
                             "its architectures, the cache, its layers and wisdom; "
                             "what is missing and how to get it");
  auto json = std::make_shared<bool>(false);
  arguments->add_flag("--json", *json, "JSON on a terminal too");
  arguments->footer(
      "Exit status 1 if kernels cannot be compiled or kept, or a layer cannot be used. A missing\n"
      "driver or GPU is told, and is no failure: precompile and the CPU need neither. Nor is an\n"
      "NVRTC that JITBAG_NVRTC=none turns off, nor wisdom that is ignored.");
  return {arguments, [json] { return run_doctor(*json); }};
}

}  // namespace jitbag::tools
