#include <pwd.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "command.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/device.hpp"
#include "jitbag/error.hpp"
#include "machine.hpp"
#include "output.hpp"
#include "version.hpp"

namespace jitbag::tools {
namespace {

namespace fs = std::filesystem;

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

struct CacheState {
  std::optional<fs::path> directory;
  std::string owner;
  std::string mode;
  std::int64_t records = 0;
  std::int64_t damaged = 0;
  std::int64_t bytes = 0;
  std::string problem;
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

std::string user_name(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

std::vector<std::byte> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  const auto* first = reinterpret_cast<const std::byte*>(content.data());
  return {first, first + content.size()};
}

/// Counts a file of the folder that is a record by its place: whole, or damaged.
void count_file(const cache::DiskCache& cache, const fs::path& path, CacheState& state) {
  const auto key = cache::Digest::from_hex(path.stem().string());
  if (!key || cache.path_of(*key) != path) return;
  const std::vector<std::byte> bytes = bytes_of(path);
  const cache::Decoded decoded = cache::decode(bytes);
  if (!decoded.record || !(decoded.record->key() == *key)) {
    ++state.damaged;
    return;
  }
  ++state.records;
  state.bytes += static_cast<std::int64_t>(bytes.size());
}

void count_records(const cache::DiskCache& cache, CacheState& state) {
  constexpr auto options = fs::directory_options::skip_permission_denied;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(cache.directory(), options, error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone)) count_file(cache, entry->path(), state);
  }
}

CacheState look_at_cache() {
  CacheState state;
  state.directory = cache::default_directory();
  if (!state.directory) {
    state.problem =
        "There is no folder for the cache: set JITBAG_CACHE_DIR or HOME to an absolute path.";
    return state;
  }
  const cache::DiskCache cache(*state.directory, [](std::string_view) {});
  const auto health = cache.health();
  if (!health.usable) state.problem = health.sentence;
  struct stat info {};
  if (stat(state.directory->c_str(), &info) == 0) {
    state.owner = user_name(info.st_uid);
    state.mode = fmt::format("{:04o}", info.st_mode & 07777u);
    count_records(cache, state);
  }
  return state;
}

Json problem_json(const std::string& problem) {
  return problem.empty() ? Json(nullptr) : Json(problem);
}

Json gpu_json(const device::Info& gpu) {
  return {{"ordinal", gpu.ordinal},      {"name", gpu.name},
          {"arch", to_text(gpu.target)}, {"multiprocessors", gpu.multiprocessors},
          {"l2_bytes", gpu.l2_bytes},    {"memory_bytes", gpu.memory_bytes}};
}

Json report_json(const DriverState& driver, const NvrtcState& nvrtc, const CacheState& cache) {
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
      {"cache",
       {{"directory", cache.directory ? Json(cache.directory->string()) : Json(nullptr)},
        {"owner", problem_json(cache.owner)},
        {"mode", problem_json(cache.mode)},
        {"records", cache.records},
        {"damaged", cache.damaged},
        {"bytes", cache.bytes},
        {"problem", problem_json(cache.problem)}}},
      {"cpu", {{"name", processor_name()}, {"threads", processor_threads()}}},
  };
}

std::string report_text(const DriverState& driver, const NvrtcState& nvrtc,
                        const CacheState& cache) {
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
  if (cache.directory)
    lines.emplace_back("cache folder", cache.owner.empty() ? cache.directory->string()
                                                           : fmt::format("{} (of {}, mode {})",
                                                                         cache.directory->string(),
                                                                         cache.owner, cache.mode));
  lines.emplace_back("cache",
                     cache.problem.empty()
                         ? fmt::format("{} records, {} damaged, {}", cache.records, cache.damaged,
                                       human_bytes(static_cast<double>(cache.bytes)))
                         : cache.problem);
  lines.emplace_back("CPU", fmt::format("{}, {} threads", processor_name(), processor_threads()));
  return name_value_lines(lines);
}

int run(bool json) {
  const DriverState driver = look_at_driver();
  const NvrtcState nvrtc = look_at_nvrtc();
  const CacheState cache = look_at_cache();
  if (wants_json(json))
    print_json(report_json(driver, nvrtc, cache));
  else
    fmt::print("{}", report_text(driver, nvrtc, cache));
  // Without a driver there is still precompile and the CPU; without these two there is no compile.
  for (const std::string& problem : {nvrtc.problem, cache.problem}) {
    if (!problem.empty()) say_error(problem);
  }
  return nvrtc.problem.empty() && cache.problem.empty() ? exit_done : exit_failed;
}

}  // namespace

Command add_doctor(CLI::App& program) {
  CLI::App* arguments = program.add_subcommand(
      "doctor",
      "Tell what is found here: driver, GPUs, NVRTC and its architectures, the cache folder; what "
      "is missing and how to get it");
  auto json = std::make_shared<bool>(false);
  arguments->add_flag("--json", *json, "JSON on a terminal too");
  arguments->footer(
      "Exit status 1 if kernels cannot be compiled or kept. A missing driver or GPU is told, and "
      "is\n"
      "no failure: precompile and the CPU need neither.");
  return {arguments, [json] { return run(*json); }};
}

}  // namespace jitbag::tools
