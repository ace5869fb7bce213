#include "producer_rules.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace jitbag::cache {

bool is_valid_producer_id(std::string_view id) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= longest_producer_id && id != "." && id != ".." &&
         std::ranges::all_of(id, allowed);
}

std::string bad_id_sentence(std::string_view id, std::string_view where) {
  return fmt::format(
      "The producer \"{}\" is not remembered in {}: an id has 1 to {} of 0-9 a-z A-Z . _ - and is "
      "not . or ..",
      id, where, longest_producer_id);
}

std::string_view kept_description(std::string_view text) {
  if (text.size() <= longest_producer_description) return text;
  std::size_t end = longest_producer_description;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; };
  while (end > 0 && continues(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace jitbag::cache
