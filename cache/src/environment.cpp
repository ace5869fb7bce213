#include "jitbag/cache/environment.hpp"

#include <cstdlib>

namespace jitbag::cache {

std::optional<std::string> environment(const char* name) {
  const char* value = ::secure_getenv(name);
  if (value == nullptr || *value == '\0') return {};
  return value;
}

}  // namespace jitbag::cache
