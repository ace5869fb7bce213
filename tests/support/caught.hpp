#pragma once

#include <string>

#include "jitbag/error.hpp"

namespace jitbag::test {

/// What an action threw, in a form that a failed test prints: "invalid_argument: dim is -1; …",
/// or "nothing".
template <class Action>
std::string caught(Action&& action) {
  static constexpr const char* kinds[] = {"invalid_argument", "missing_library", "no_device",
                                          "compile_failed",   "device_failed",   "bad_id",
                                          "bad_offset",       "io_failed"};
  try {
    action();
  } catch (const Error& error) {
    return std::string(kinds[static_cast<int>(error.kind())]) + ": " + error.what();
  }
  return "nothing";
}

}  // namespace jitbag::test
