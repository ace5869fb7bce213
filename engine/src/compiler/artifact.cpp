#include "compiler/artifact.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "compiler/cubin.hpp"

namespace jitbag {

std::string_view name(KernelOrigin origin) {
  switch (origin) {
    case KernelOrigin::memory:
      return "memory";
    case KernelOrigin::disk:
      return "disk";
    case KernelOrigin::bundle:
      return "bundle";
    case KernelOrigin::remote:
      return "remote";
    case KernelOrigin::compiled:
      return "compiled";
  }
  return {};
}

namespace compiler {
namespace {

/// The number that stands before `words` in the log, summed over its places.
int number_before(std::string_view log, std::string_view words) {
  int sum = 0;
  for (auto at = log.find(words); at != std::string_view::npos; at = log.find(words, at + 1)) {
    auto first = at;
    while (first > 0 && log[first - 1] >= '0' && log[first - 1] <= '9') --first;
    int value = 0;
    std::from_chars(log.data() + first, log.data() + at, value);
    sum += value;
  }
  return sum;
}

/// What ptxas says of one kernel: a source may have several.
std::string_view part_about(std::string_view log, const std::string& entry) {
  const auto begin = log.find("Compiling entry function '" + entry + "'");
  if (begin == std::string_view::npos) return log;
  return log.substr(begin, log.find("Compiling entry function", begin + 1) - begin);
}

void append(std::vector<std::byte>& bytes, std::string_view text) {
  const std::uint64_t length = text.size();
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<std::byte>(length >> shift & 0xff));
  }
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), data, data + text.size());
}

std::optional<std::string> take(std::span<const std::byte>& bytes) {
  if (bytes.size() < 8) return {};
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i) length |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  bytes = bytes.subspan(8);
  if (length > bytes.size()) return {};
  std::string text(reinterpret_cast<const char*>(bytes.data()), length);
  bytes = bytes.subspan(length);
  return text;
}

}  // namespace

void read_resources(Artifact& artifact) {
  const std::string_view log = part_about(artifact.log, artifact.entry);
  artifact.registers = number_before(log, " registers");
  artifact.shared_bytes = number_before(log, " bytes smem");
  artifact.spill_bytes =
      number_before(log, " bytes spill stores") + number_before(log, " bytes spill loads");
}

std::string stable_log(std::string_view log) {
  std::string kept;
  while (!log.empty()) {
    const std::size_t length = std::min(log.find('\n'), log.size() - 1) + 1;
    const std::string_view line = log.substr(0, length);
    log.remove_prefix(length);
    if (line.find("Compile time") == std::string_view::npos) kept += line;
  }
  return kept;
}

std::vector<std::byte> to_payload(const Artifact& artifact) {
  std::vector<std::byte> payload;
  append(payload, artifact.compiler);
  append(payload, artifact.log);
  payload.insert(payload.end(), artifact.cubin.begin(), artifact.cubin.end());
  return payload;
}

std::optional<Artifact> from_payload(std::span<const std::byte> payload, std::string_view entry) {
  Artifact artifact;
  auto description = take(payload);
  auto log = description ? take(payload) : std::nullopt;
  if (!log || !has_kernel(payload, entry)) return {};
  artifact.cubin.assign(payload.begin(), payload.end());
  artifact.entry = entry;
  artifact.compiler = std::move(*description);
  artifact.log = std::move(*log);
  read_resources(artifact);
  return artifact;
}

}  // namespace compiler
}  // namespace jitbag
