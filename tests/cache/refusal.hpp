#pragma once

#include <string>

#include "jitbag/cache/error.hpp"

namespace jitbag::test {

/// The sentence that an action was refused with, or "nothing".
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const cache::Error& error) {
    return error.what();
  }
  return "nothing";
}

[[nodiscard]] inline bool says(const std::string& sentence, const std::string& words) {
  return sentence.find(words) != std::string::npos;
}

}  // namespace jitbag::test
