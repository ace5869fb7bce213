// Any text as a manifest: kernels, or a usage error of one line that names the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "arguments.hpp"
#include "kernel_lists.hpp"
#include "precompile/manifest.hpp"

namespace {

using namespace jitbag::tools;

constexpr std::string_view name = "fuzz.json";

/// Few enough to make at every run.
bool are_few(const std::vector<KernelLists>& lists) {
  std::uint64_t kernels = 0;
  for (const KernelLists& list : lists) add_combinations(kernels, list);
  return kernels <= 1000;
}

void require(bool holds) {
  if (!holds) std::abort();
}

void try_manifest(std::string_view text) {
  try {
    const auto lists = parse_manifest(text, name);
    require(!lists.empty());
    for (const KernelLists& list : lists) require(!list.targets.empty() && !list.axes.empty());
    if (are_few(lists)) require(!kernel_requests(lists).empty());
  } catch (const UsageError& error) {
    const std::string_view sentence = error.what();
    require(sentence.starts_with(name) && sentence.size() < 2000);
    require(std::ranges::none_of(sentence, [](char c) { return c >= 0 && c < ' '; }));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_manifest({reinterpret_cast<const char*>(data), size});
  return 0;
}
