#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jitbag::cache {

inline constexpr std::size_t longest_producer_id = 200;
inline constexpr std::size_t longest_producer_description = 3 << 10;

/// 1 to 200 of 0-9 a-z A-Z . _ - and not . or .. : good as the name of a file anywhere.
[[nodiscard]] bool is_valid_producer_id(std::string_view id);

/// Why a producer with another id is not kept there.
[[nodiscard]] std::string bad_id_sentence(std::string_view id, std::string_view where);

/// As much of a description as is kept, whole UTF-8 characters only.
[[nodiscard]] std::string_view kept_description(std::string_view text);

}  // namespace jitbag::cache
