#pragma once

#include <cstdlib>

#include "jitbag/cache/cache.hpp"

namespace jitbag::test {

/// The cache that tests of kernels share: the folder $JITBAG_TEST_CACHE, else none. The suite runs
/// twice over it, so that every kernel that was compiled is tested once more as it comes from disk.
inline cache::CacheOptions suite_cache() {
  const char* folder = std::getenv("JITBAG_TEST_CACHE");
  if (folder == nullptr || *folder == '\0') return {};
  return {.directory = folder};
}

/// Whether this is the second run, in which nothing may be compiled.
inline bool suite_is_warm() {
  return std::getenv("JITBAG_TEST_WARM") != nullptr;
}

}  // namespace jitbag::test
