#pragma once

#include <chrono>
#include <cstdint>

#include "file.hpp"

namespace jitbag::cache {

enum class LockOutcome {
  taken,
  in_vain,      ///< someone else still has it
  unsupported,  ///< the file system or the kernel knows no such locks: see errno
};

/// Waits for one byte of a file, at most `patience`. The lock belongs to the open file and not to
/// the process, so it also keeps threads apart; the kernel releases it when the file is closed,
/// however the process ends.
[[nodiscard]] LockOutcome lock_byte(const Descriptor& file, std::uint64_t number,
                                    std::chrono::milliseconds patience);

}  // namespace jitbag::cache
