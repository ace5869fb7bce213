#include "cache/removed.hpp"

#include <spdlog/fmt/fmt.h>

namespace jitbag::tools {

std::string to_text(const cache::Removed& removed, std::string_view verb) {
  return fmt::format("{} {} records ({}) and {} files that dead processes left behind", verb,
                     removed.records, human_bytes(static_cast<double>(removed.record_bytes)),
                     removed.leftovers);
}

Json to_json(const cache::Removed& removed) {
  return {{"records", removed.records},
          {"bytes", removed.record_bytes},
          {"leftovers", removed.leftovers}};
}

}  // namespace jitbag::tools
