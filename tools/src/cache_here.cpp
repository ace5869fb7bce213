#include "cache_here.hpp"

#include <spdlog/spdlog.h>

namespace jitbag::tools {

void warn(std::string_view sentence) {
  spdlog::warn("jitbag: {}", sentence);
}

cache::CacheOptions cache_options_here() {
  return cache::options_from_environment(warn);
}

}  // namespace jitbag::tools
