#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "bench/result.hpp"
#include "jitbag/device.hpp"

namespace jitbag::tools::bench {

/// Enqueues one launch, on the rotating set of that number.
using Launch = std::function<void(std::size_t set)>;

/// What a launch takes on the device alone: a graph of one launch for each set is replayed, so that
/// no launch waits for the host, and each finds its ids and its output where the one before it has
/// not been.
[[nodiscard]] DeviceTime measure_device(const Launch& launch, std::size_t sets,
                                        const device::OwnedStream& stream);

/// What a launch costs its caller, in microseconds.
[[nodiscard]] double measure_host_us(const Launch& launch, std::size_t sets,
                                     const device::OwnedStream& stream);

[[nodiscard]] KernelFacts facts(const Artifact& artifact, std::string strategy);

}  // namespace jitbag::tools::bench
