#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel_lists.hpp"

namespace jitbag::tools {

/// Reads a manifest, the JSON that says which kernels to compile; docs/command.md has its form.
/// `name` stands for the file in messages. `targets`, unless empty, are taken instead of the
/// manifest's own. Throws UsageError that names the file, the place in it and what is allowed.
[[nodiscard]] std::vector<KernelLists> parse_manifest(std::string_view text, std::string_view name,
                                                      const std::vector<Target>& targets = {});

}  // namespace jitbag::tools
