#pragma once

#include <cstdint>

namespace jitbag::host {

/// Threads for so many shares of work: `asked`, where 0 means one for each core, and no more than
/// there are shares. Throws Error(invalid_argument) for less than 0.
[[nodiscard]] int thread_count(int asked, std::int64_t shares);

}  // namespace jitbag::host
