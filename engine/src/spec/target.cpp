#include "jitbag/target.hpp"

#include <spdlog/fmt/fmt.h>

#include <charconv>

#include "jitbag/error.hpp"

namespace jitbag {
namespace {

constexpr Target oldest{7, 5};

[[noreturn]] void refuse_architecture(std::string_view text) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("\"{}\" is not a GPU architecture; write it as sm_ and the compute "
                          "capability without its dot, such as sm_90.",
                          text));
}

}  // namespace

std::string to_text(const Target& target) {
  return fmt::format("sm_{}{}", target.major, target.minor);
}

Target parse_target(std::string_view text) {
  constexpr std::string_view prefix = "sm_";
  if (!text.starts_with(prefix)) refuse_architecture(text);
  const std::string_view digits = text.substr(prefix.size());
  if (digits.size() < 2 || digits.size() > 4 || digits.front() == '0') refuse_architecture(text);

  int number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stopped != end || number < 0) refuse_architecture(text);

  const Target target{number / 10, number % 10};
  if (target < oldest) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} is older than {}, the oldest architecture that jitbag writes "
                            "kernels for; use {} or later.",
                            text, to_text(oldest), to_text(oldest)));
  }
  return target;
}

}  // namespace jitbag
