#pragma once

#include <string>
#include <vector>

#include "folder.hpp"
#include "jitbag/cache/producer.hpp"

namespace jitbag::cache {

inline constexpr const char* producers_name = "producers";

/// The files that have the names of producers, the newest first; by name where the clock cannot
/// tell.
[[nodiscard]] std::vector<std::string> producer_files(const Folder& producers);

/// Those remembered in the cache folder, the last remembered first.
[[nodiscard]] std::vector<Producer> read_producers(const Folder& root);

}  // namespace jitbag::cache
