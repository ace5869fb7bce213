#include "jitbag/poolings.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

#include "jitbag/error.hpp"

namespace jitbag {

Poolings::Poolings(std::initializer_list<Pooling> several)
    : Poolings(std::span(several.begin(), several.size())) {}

Poolings::Poolings(std::span<const Pooling> several) : size_(several.size()) {
  if (several.empty() || several.size() > most) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("There are {} poolings; give at least 1 and at most {}.",
                            several.size(), most));
  }
  std::copy(several.begin(), several.end(), values_.begin());
}

std::string_view name(Pooling pooling) {
  switch (pooling) {
    case Pooling::sum:
      return "sum";
    case Pooling::mean:
      return "mean";
    case Pooling::mean_by_weights:
      return "mean_by_weights";
    case Pooling::mean_by_length:
      return "mean_by_length";
    case Pooling::mean_by_sqrt:
      return "mean_by_sqrt";
    case Pooling::max:
      return "max";
    case Pooling::none:
      return "none";
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} is not the number of a Pooling; use one of its enumerators.",
                          static_cast<int>(pooling)));
}

Pooling parse_pooling(std::string_view text) {
  std::string names;
  for (int number = 0; number <= static_cast<int>(Pooling::none); ++number) {
    const auto pooling = static_cast<Pooling>(number);
    if (text == name(pooling)) return pooling;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(pooling));
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("\"{}\" is not a pooling; use one of: {}.", text, names));
}

}  // namespace jitbag
