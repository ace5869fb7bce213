#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jitbag/artifact.hpp"

namespace jitbag::compiler {

/// Fills registers, shared and spill bytes of the entry from the log that ptxas writes with -v.
void read_resources(Artifact& artifact);

/// The log without what differs from one run to the next, so that equal work gives equal records.
[[nodiscard]] std::string stable_log(std::string_view log);

/// What a record keeps of an artifact, beside what its fields say.
[[nodiscard]] std::vector<std::byte> to_payload(const Artifact& artifact);
[[nodiscard]] std::optional<Artifact> from_payload(std::span<const std::byte> payload,
                                                   std::string_view entry);

}  // namespace jitbag::compiler
