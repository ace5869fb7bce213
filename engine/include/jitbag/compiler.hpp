#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/target.hpp"

/// NVRTC, as found on this machine.
namespace jitbag::compiler {

/// One NVRTC library file, recognised by its content and not by its name.
struct Library {
  std::filesystem::path path;
  std::string build_id;  ///< the GNU build id in the file, in hexadecimal: what keys are made from
};

/// The NVRTC that would be opened: $JITBAG_NVRTC (a file, or `none` to do without), else one that
/// this process has loaded, else the first 64-bit library file by its names in CUDA_HOME,
/// CUDA_PATH, the folder that `make setup` fills, LD_LIBRARY_PATH, the `nvidia` packages of every
/// python3 on PATH, /usr/local/cuda*, and the distribution's folders. Reads a few hundred bytes;
/// opens nothing.
[[nodiscard]] std::optional<Library> find();

/// Whether the user wants none, by JITBAG_NVRTC=none, though there may be one.
[[nodiscard]] bool is_turned_off();

/// Every place that `find` looks in, in order, for messages and for `jitbag doctor`.
[[nodiscard]] std::vector<std::string> searched_places();

/// Opens the library and asks it. Throw Error(missing_library).
[[nodiscard]] std::string version();                    ///< "13.0"
[[nodiscard]] std::vector<Target> supported_targets();  ///< ascending

}  // namespace jitbag::compiler
