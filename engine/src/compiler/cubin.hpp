#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace jitbag::compiler {

/// Whether this is a whole ELF file, all its sections within it, with the code of a kernel of that
/// name. Bytes from anywhere: no offset in them is believed.
[[nodiscard]] bool has_kernel(std::span<const std::byte> cubin, std::string_view entry);

}  // namespace jitbag::compiler
