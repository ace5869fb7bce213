#include "unique_name.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/random.h>

#include <array>
#include <cstdint>

#include "file.hpp"

namespace jitbag::cache {

std::optional<std::string> unique_name(std::string_view prefix) {
  std::array<std::uint64_t, 2> random{};
  if (uninterrupted([&] { return ::getrandom(random.data(), sizeof random, 0); }) != sizeof random)
    return {};
  return fmt::format("{}{:016x}{:016x}", prefix, random[0], random[1]);
}

}  // namespace jitbag::cache
