#pragma once

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "jitbag/error.hpp"

namespace jitbag {

/// Throws Error(invalid_argument) with the sentence.
template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> sentence, Arguments&&... arguments) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format(sentence, std::forward<Arguments>(arguments)...));
}

}  // namespace jitbag
