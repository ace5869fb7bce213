#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/tables.hpp"
#include "kernel_flags.hpp"
#include "kernel_request.hpp"

namespace jitbag::tools {

/// Lists of what varies; every combination is one kernel.
struct KernelLists {
  std::string where = {};  ///< "kernels.json: kernels[2]", for messages; empty for flags
  std::vector<std::vector<Setting>> axes = {};
  std::optional<TablesSpec> tables = {};  ///< a set of tables: of a choice only the batch counts
  std::vector<Target> targets = {};
};

/// What the flags say. Throws UsageError.
[[nodiscard]] KernelLists kernel_lists(const KernelFlags& flags, std::vector<Target> targets);

/// More kernels than anyone compiles: a slip in a range.
inline constexpr std::uint64_t most_kernels = 1'000'000;

/// Adds the number of kernels that the lists make. Throws UsageError beyond `most_kernels`.
void add_combinations(std::uint64_t& kernels, const KernelLists& lists);

/// The different kernels of all the lists, in order. Throws UsageError: a combination that cannot
/// work, or more than `most_kernels`.
[[nodiscard]] std::vector<KernelRequest> kernel_requests(const std::vector<KernelLists>& lists);

}  // namespace jitbag::tools
