#pragma once

#include <stdexcept>
#include <string>

namespace jitbag {

/// What went wrong, for a program that decides what to do next.
enum class ErrorKind {
  invalid_argument,  ///< a spec, strategy, template or launch argument that can never work
  missing_library,   ///< the CUDA driver or NVRTC is not on this machine
  no_device,         ///< the driver is there, the GPU that was asked for is not
  compile_failed,    ///< NVRTC refused the source; `details()` has the log beside the source lines
  device_failed,     ///< the driver refused a load, a launch or a copy
  bad_id,            ///< a kernel with BadIds::report met an id outside its table
  bad_offset,        ///< a kernel with BadIds::report met a bag that is not among the ids
  io_failed,         ///< a file could not be read or written
};

/// Every failure of jitbag. `what()` is one sentence for a person: what was wrong, with the value,
/// and what to do about it.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence, std::string details = {})
      : std::runtime_error(sentence), kind_(kind), details_(std::move(details)) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

  /// More than one sentence, where there is more: the compile log and the source lines it names.
  [[nodiscard]] const std::string& details() const noexcept { return details_; }

 private:
  ErrorKind kind_;
  std::string details_;
};

}  // namespace jitbag
