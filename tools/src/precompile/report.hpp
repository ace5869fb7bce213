#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "precompile/item.hpp"

namespace jitbag::tools {

/// What the work came to.
struct Counts {
  std::size_t compiled = 0;
  std::size_t fetched = 0;  ///< from the remote
  std::size_t cached = 0;   ///< already there
  std::size_t failed = 0;
  std::size_t missing = 0;
};
[[nodiscard]] Counts count(const std::vector<Item>& items);

/// What `precompile` was asked for.
enum class Aim {
  make,      ///< every kernel
  plan,      ///< what would be made
  complete,  ///< whether everything is there
};

struct Report {
  const std::vector<Item>& items;
  Aim aim = Aim::make;
  double seconds = 0;
  std::optional<std::string> cache_directory = {};
  bool is_interrupted = false;
};

/// On standard output: JSON, or a table and lines for a person.
void print_report(const Report& report, bool json);

}  // namespace jitbag::tools
