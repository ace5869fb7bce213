#pragma once

#include <string>
#include <string_view>

#include "jitbag/cache/record.hpp"

namespace jitbag::tools {

/// A record in words. What it does not say is empty.
struct Description {
  std::string spec;  ///< of a template of the user's own: its name
  std::string strategy;
  std::string arch;
  std::string compiler_build;
};
[[nodiscard]] Description describe(const cache::Record& record);

/// The first field of that name; empty when there is none.
[[nodiscard]] std::string_view value_of(const cache::Record& record, std::string_view name);

/// The block of constants at the top of a source.
[[nodiscard]] std::string_view constants_of(std::string_view source);

}  // namespace jitbag::tools
