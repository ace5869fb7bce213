#pragma once

#include "bench/options.hpp"
#include "cli11.hpp"

namespace jitbag::tools::bench {

void add_training_flags(CLI::App& arguments, Options& options);

/// Refuses flags of training that say nothing. Throws UsageError.
void require_consistent_training(const CLI::App& arguments, const Options& options);

}  // namespace jitbag::tools::bench
