#pragma once

#include <string>

namespace jitbag::cache {

/// Who makes the payloads, such as one build of a compiler. Remembered beside the records so that
/// they can be found where that compiler is not installed.
struct Producer {
  std::string id;           ///< goes into keys as a field of the caller's
  std::string description;  ///< for people
  bool operator==(const Producer&) const = default;
};

}  // namespace jitbag::cache
