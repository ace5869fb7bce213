#pragma once

#include <optional>

#include "host/bag_work.hpp"
#include "spec/arguments.hpp"

namespace jitbag::host {

/// What BadIds::report tells of a launch. `spec` is validated.
[[nodiscard]] inline std::optional<BadInput> first_bad_input(const ForwardSpec& spec,
                                                             const ForwardArguments& arguments) {
  const BagWork<float> work(spec, arguments);
  const BagRange units = work.units();
  for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
    if (work.has_bad_input(unit)) return work.bad_input(unit);
  }
  return std::nullopt;
}

}  // namespace jitbag::host
