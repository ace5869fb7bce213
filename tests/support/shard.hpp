#pragma once

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace jitbag::test {

/// $JITBAG_TEST_SHARD, such as "2/4": the part of a long test that this process does; unset, all.
struct Shard {
  std::size_t index = 0, count = 1;

  Shard() {
    const char* given = std::getenv("JITBAG_TEST_SHARD");
    if (given == nullptr) return;
    const std::string text = given;
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) throw std::runtime_error("JITBAG_TEST_SHARD is not like 0/4.");
    index = std::stoul(text.substr(0, slash));
    count = std::stoul(text.substr(slash + 1));
    if (index >= count) throw std::runtime_error("JITBAG_TEST_SHARD counts from 0.");
  }

  [[nodiscard]] bool has(std::size_t number) const { return number % count == index; }
};

/// Whether $JITBAG_TEST_FULL asks for everything, however long it takes.
inline bool full_tests() {
  const char* given = std::getenv("JITBAG_TEST_FULL");
  return given != nullptr && std::string(given) == "1";
}

}  // namespace jitbag::test
