#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace jitbag::cache {

/// What is signed: the name of what it is, then its bytes. With the name before it, a signature of
/// one kind of thing is never one of another kind.
[[nodiscard]] inline std::vector<std::byte> signed_message(std::string_view kind,
                                                           std::span<const std::byte> bytes) {
  std::vector<std::byte> message(kind.size() + bytes.size());
  std::ranges::copy(bytes, std::ranges::copy(std::as_bytes(std::span(kind)), message.begin()).out);
  return message;
}

}  // namespace jitbag::cache
