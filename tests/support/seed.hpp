#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace jitbag::test {

/// The seed of random tests: $JITBAG_TEST_SEED, else always the same one.
inline std::uint64_t seed() {
  const char* given = std::getenv("JITBAG_TEST_SEED");
  return given != nullptr ? std::stoull(given) : 20240607;
}

}  // namespace jitbag::test
