#include "host/threads.hpp"

#include <omp.h>

#include <algorithm>

#include "spec/refuse.hpp"

namespace jitbag::host {

int thread_count(int asked, std::int64_t shares) {
  if (asked < 0) refuse("threads is {}; it must be 0, for one on each core, or more.", asked);
  // More threads than this only cost, and a system that runs out of them ends the process.
  const int most = 8 * omp_get_num_procs();
  const int available = asked == 0 ? omp_get_num_procs() : std::min(asked, most);
  return static_cast<int>(std::min<std::int64_t>(available, shares));
}

}  // namespace jitbag::host
