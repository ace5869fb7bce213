#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "precompile/interrupt.hpp"

namespace jitbag::tools {

/// What came of one piece of work: the answer, or in one sentence why there is none.
struct Answer {
  std::size_t piece = 0;
  std::string text = {};
  std::string problem = {};
};

/// Work that is dealt out to processes.
struct ProcessWork {
  std::span<const std::size_t> pieces;
  std::size_t workers = 1;
  /// Called in a worker, once for each piece that it is given.
  std::function<std::string(std::size_t piece)> work;
  /// Called here, for each piece, in the order in which they end.
  std::function<void(const Answer&)> answered;
  /// Called here several times a second while there is nothing else to do.
  std::function<void()> waiting;
};

/// Deals the pieces out one by one to processes forked from this one, which must have a single
/// thread. A worker that dies costs the piece that it had and is replaced. Workers end when this
/// process does, however that is; they do not take part in Ctrl-C: at the first one no more pieces
/// are dealt out and those at work are waited for, at the second the workers are killed.
/// Throws Error(io_failed) when no worker can be started.
void run_in_processes(const ProcessWork& work, const Interrupt& interrupt);

}  // namespace jitbag::tools
