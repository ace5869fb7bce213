#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitbag {

namespace cache {
struct Record;
}

/// Where a kernel came from: `disk` is a cache folder, the one that is written to or a layer.
enum class KernelOrigin { memory, disk, bundle, remote, compiled };
[[nodiscard]] std::string_view name(KernelOrigin origin);

/// What each step of making a kernel took, in milliseconds; 0 for a step that was not needed.
/// None of it is ever part of a launch.
struct MakeTimes {
  double codegen_ms = 0;  ///< spec to source text and key
  double disk_ms = 0;     ///< looking for the record in folder and layers, reading and verifying it
  double remote_ms = 0;   ///< asking the remote for the record, and giving it the new one
  double open_ms = 0;     ///< opening the NVRTC library, once in a process
  double compile_ms = 0;  ///< NVRTC, source to cubin
  double load_ms = 0;     ///< cubin to a launchable function, in the driver
};

/// What NVRTC made of a specialisation.
struct Artifact {
  std::vector<std::byte> cubin;
  std::string entry;
  std::string key;       ///< SHA-256, in hexadecimal
  std::string compiler;  ///< "NVRTC 13.0 (build 65be0db3…)"
  std::string log;
  int registers = 0;     ///< per thread
  int shared_bytes = 0;  ///< static shared memory per block
  int spill_bytes = 0;   ///< spill stores and loads; 0 in a kernel that fits
  KernelOrigin origin = KernelOrigin::compiled;
  std::string place;        ///< the folder, bundle or url it came from; empty when compiled
  bool is_on_disk = false;  ///< whether a record of it is in the cache folder or a layer
  MakeTimes times;
};

/// What a record of the cache holds; nothing when that is no kernel, or one of another version of
/// jitbag. Where it lies is not known from it: `origin` and `place` are for the caller.
[[nodiscard]] std::optional<Artifact> artifact_of(const cache::Record& record);

}  // namespace jitbag
