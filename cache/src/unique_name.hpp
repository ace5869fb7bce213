#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace jitbag::cache {

/// What a file is called until it is put in place. '+' stands in no name that the cache gives to
/// anything else.
inline constexpr std::string_view new_prefix = ".new+";

/// The prefix and 128 random bits, so that no two files on any two hosts meet. Nothing when the
/// kernel gives no random number: see errno.
[[nodiscard]] std::optional<std::string> unique_name(std::string_view prefix);

}  // namespace jitbag::cache
