#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace jitbag::tools {

/// The whole content of a file, of standard input for "-". Throws Error(io_failed): it cannot be
/// read, or has more than `most_bytes`.
[[nodiscard]] std::string read_file(const std::string& path, std::uint64_t most_bytes);

/// Throws Error(io_failed).
void write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace jitbag::tools
