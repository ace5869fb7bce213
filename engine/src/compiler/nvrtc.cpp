#include "compiler/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "compiler/artifact.hpp"
#include "compiler/cubin.hpp"
#include "jitbag/error.hpp"

namespace jitbag::compiler {
namespace {

struct Version {
  int major = 0, minor = 0;
  auto operator<=>(const Version&) const = default;
};

/// The functions of one opened NVRTC. Never closed: NVRTC keeps threads and caches of its own.
struct Nvrtc {
  decltype(&nvrtcVersion) version;
  decltype(&nvrtcGetNumSupportedArchs) get_number_of_architectures;
  decltype(&nvrtcGetSupportedArchs) get_architectures;
  decltype(&nvrtcCreateProgram) create_program;
  decltype(&nvrtcDestroyProgram) destroy_program;
  decltype(&nvrtcCompileProgram) compile_program;
  decltype(&nvrtcGetProgramLogSize) get_log_size;
  decltype(&nvrtcGetProgramLog) get_log;
  decltype(&nvrtcGetCUBINSize) get_cubin_size;
  decltype(&nvrtcGetCUBIN) get_cubin;
  decltype(&nvrtcGetErrorString) get_error_string;
  Version library_version;
  std::string path;
};

template <class Function>
void resolve(Function& function, void* handle, const char* name, const std::string& path) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (!function) {
    throw Error(
        ErrorKind::missing_library,
        fmt::format("{} has no function {}; jitbag needs NVRTC of CUDA 12 or later.", path, name));
  }
}

/// NVRTC opens its builtins by name alone and ignores where it lies itself: without this it fails
/// wherever that folder is not on the linker's path.
void open_builtins(const std::filesystem::path& library, const Version& version) {
  const auto builtins = library.parent_path() /
                        fmt::format("libnvrtc-builtins.so.{}.{}", version.major, version.minor);
  ::dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

Nvrtc open(const Library& library) {
  const std::string path = library.path.string();
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    throw Error(
        ErrorKind::missing_library,
        fmt::format(
            "NVRTC at {} could not be opened: {}. Install it again, or name another file in "
            "JITBAG_NVRTC.",
            path, ::dlerror()));
  }
  Nvrtc nvrtc;
  nvrtc.path = path;
  resolve(nvrtc.version, handle, "nvrtcVersion", path);
  resolve(nvrtc.get_number_of_architectures, handle, "nvrtcGetNumSupportedArchs", path);
  resolve(nvrtc.get_architectures, handle, "nvrtcGetSupportedArchs", path);
  resolve(nvrtc.create_program, handle, "nvrtcCreateProgram", path);
  resolve(nvrtc.destroy_program, handle, "nvrtcDestroyProgram", path);
  resolve(nvrtc.compile_program, handle, "nvrtcCompileProgram", path);
  resolve(nvrtc.get_log_size, handle, "nvrtcGetProgramLogSize", path);
  resolve(nvrtc.get_log, handle, "nvrtcGetProgramLog", path);
  resolve(nvrtc.get_cubin_size, handle, "nvrtcGetCUBINSize", path);
  resolve(nvrtc.get_cubin, handle, "nvrtcGetCUBIN", path);
  resolve(nvrtc.get_error_string, handle, "nvrtcGetErrorString", path);
  nvrtc.version(&nvrtc.library_version.major, &nvrtc.library_version.minor);
  open_builtins(library.path, nvrtc.library_version);
  return nvrtc;
}

const Nvrtc& opened(const Library& library) {
  static std::mutex mutex;
  static std::map<std::string, Nvrtc> libraries;
  const std::lock_guard lock(mutex);
  const auto found = libraries.find(library.build_id);
  if (found != libraries.end()) return found->second;
  return libraries.emplace(library.build_id, open(library)).first->second;
}

const Nvrtc& found_and_opened() {
  const auto library = find();
  if (!library) throw Error(ErrorKind::missing_library, missing_sentence());
  return opened(*library);
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// What is asked of NVRTC beside the specialisation's own options: to keep no results of its own,
/// so that a compile is a compile, and to have ptxas state the resources.
std::vector<std::string> options_for(const Specialisation& specialisation, const Nvrtc& nvrtc) {
  std::vector<std::string> options = {"--gpu-architecture=" + to_text(specialisation.target),
                                      "--ptxas-options=-v"};
  if (nvrtc.library_version >= Version{12, 9}) options.emplace_back("--no-cache");
  for (const std::string& option : specialisation.options) {
    if (option == "--minimal" && nvrtc.library_version < Version{12, 8}) continue;
    options.push_back(option);
  }
  return options;
}

std::string numbered_line(std::string_view source, int number) {
  for (int line = 1; line < number && !source.empty(); ++line) {
    source.remove_prefix(std::min(source.find('\n'), source.size() - 1) + 1);
  }
  return fmt::format("{:6} | {}\n", number, source.substr(0, source.find('\n')));
}

/// The log, each message followed by the line of the source that it speaks of: NAME(LINE): error: …
std::string log_beside_source(std::string_view log, const Specialisation& specialisation) {
  std::string result;
  const std::string marker = specialisation.name + "(";
  while (!log.empty()) {
    const std::size_t length = std::min(log.find('\n'), log.size() - 1) + 1;
    const std::string_view line = log.substr(0, length);
    log.remove_prefix(length);
    result += line;
    const std::size_t at = line.find(marker);
    if (at == std::string_view::npos) continue;
    const int number = std::atoi(std::string(line.substr(at + marker.size(), 9)).c_str());
    if (number > 0) result += numbered_line(specialisation.source, number);
  }
  return result;
}

[[noreturn]] void refuse(nvrtcResult result, const Nvrtc& nvrtc,
                         const Specialisation& specialisation, std::string_view log) {
  std::string hint = "See the log for the lines it names";
  if (result == NVRTC_ERROR_INVALID_OPTION) {
    hint = fmt::format(
        "NVRTC {}.{} at {} does not know an option or the architecture; "
        "`jitbag doctor` lists those it knows",
        nvrtc.library_version.major, nvrtc.library_version.minor, nvrtc.path);
  } else if (result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
    hint = fmt::format("libnvrtc-builtins.so.{}.{} must lie beside {}", nvrtc.library_version.major,
                       nvrtc.library_version.minor, nvrtc.path);
  }
  throw Error(ErrorKind::compile_failed,
              fmt::format("{} could not be compiled for {}: {}. {}.", specialisation.name,
                          to_text(specialisation.target), nvrtc.get_error_string(result), hint),
              log_beside_source(log, specialisation));
}

class Program {
 public:
  Program(const Nvrtc& nvrtc, const Specialisation& specialisation) : nvrtc_(nvrtc) {
    const nvrtcResult result = nvrtc.create_program(
        &program_, specialisation.source.c_str(), specialisation.name.c_str(), 0, nullptr, nullptr);
    if (result != NVRTC_SUCCESS) refuse(result, nvrtc, specialisation, "");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { nvrtc_.destroy_program(&program_); }

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return nvrtc_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
  }

  std::string log() const {
    std::size_t size = 0;
    nvrtc_.get_log_size(program_, &size);
    std::string text(size, '\0');
    if (size > 0) nvrtc_.get_log(program_, text.data());
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

  std::vector<std::byte> cubin() const {
    std::size_t size = 0;
    nvrtc_.get_cubin_size(program_, &size);
    std::vector<std::byte> bytes(size);
    if (size > 0) nvrtc_.get_cubin(program_, reinterpret_cast<char*>(bytes.data()));
    return bytes;
  }

 private:
  const Nvrtc& nvrtc_;
  nvrtcProgram program_ = nullptr;
};

std::string description(const Nvrtc& nvrtc, const Library& library) {
  return fmt::format("NVRTC {}.{} (build {})", nvrtc.library_version.major,
                     nvrtc.library_version.minor, library.build_id);
}

}  // namespace

Artifact compile(const Specialisation& specialisation, const Library& library) {
  Artifact artifact;
  const auto start = std::chrono::steady_clock::now();
  const Nvrtc& nvrtc = opened(library);
  artifact.times.open_ms = milliseconds_since(start);

  const auto compiling = std::chrono::steady_clock::now();
  Program program(nvrtc, specialisation);
  const nvrtcResult result = program.compile(options_for(specialisation, nvrtc));
  const std::string log = program.log();
  if (result != NVRTC_SUCCESS) refuse(result, nvrtc, specialisation, log);
  artifact.cubin = program.cubin();
  artifact.times.compile_ms = milliseconds_since(compiling);

  if (!has_kernel(artifact.cubin, specialisation.entry)) {
    throw Error(
        ErrorKind::compile_failed,
        fmt::format("{} compiled for {}, but no kernel named {} is in it; declare it extern \"C\" "
                    "__global__.",
                    specialisation.name, to_text(specialisation.target), specialisation.entry),
        log);
  }
  artifact.entry = specialisation.entry;
  artifact.compiler = description(nvrtc, library);
  artifact.log = stable_log(log);
  read_resources(artifact);
  return artifact;
}

std::string version() {
  const Version& version = found_and_opened().library_version;
  return fmt::format("{}.{}", version.major, version.minor);
}

std::vector<Target> supported_targets() {
  const Nvrtc& nvrtc = found_and_opened();
  int count = 0;
  nvrtc.get_number_of_architectures(&count);
  std::vector<int> numbers(static_cast<std::size_t>(count));
  if (count > 0) nvrtc.get_architectures(numbers.data());
  std::set<Target> targets;
  for (const int number : numbers) targets.insert({number / 10, number % 10});
  return {targets.begin(), targets.end()};
}

}  // namespace jitbag::compiler
