#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "folder.hpp"
#include "jitbag/cache/producer.hpp"

namespace jitbag::cache {

inline constexpr const char* producers_name = "producers";
inline constexpr std::size_t longest_producer_id = 200;
inline constexpr std::size_t longest_description = 3 << 10;

[[nodiscard]] bool is_producer_id(std::string_view id);

/// As much of the text as fits into longest_description, whole UTF-8 characters only.
[[nodiscard]] std::string_view shortened(std::string_view text);

/// The files that have the names of producers, the newest first; by name where the clock cannot
/// tell.
[[nodiscard]] std::vector<std::string> producer_files(const Folder& producers);

/// Those remembered in the cache folder, the last remembered first.
[[nodiscard]] std::vector<Producer> read_producers(const Folder& root);

}  // namespace jitbag::cache
