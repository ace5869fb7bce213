#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jitbag/types.hpp"

/// Pieces of which kernel sources are made.
namespace jitbag::codegen {

/// The text of a file of `kernel_templates`, with its `#include "..."` lines replaced by the files
/// they name. Made once in a process, by any thread.
[[nodiscard]] const std::string& template_text(std::string_view name);

/// The name of the type in the templates. Codes of a quantised table are unsigned where its rows
/// have a bias.
[[nodiscard]] std::string_view cuda_type(DataType type, bool has_bias = false);
[[nodiscard]] std::string_view cuda_type(IntegerType type);

/// A literal that is right for the lowest value too, which has no literal of its own.
[[nodiscard]] std::string literal(std::int64_t value);

/// Text of the caller's own is named by `#line 1 "name"` before it and this line after it, with the
/// end of the line before.
inline constexpr std::string_view own_lines_again = "\n#line own\n";

/// The source with each such line made to say where it stands.
[[nodiscard]] std::string with_line_numbers(std::string_view source, std::string_view name);

}  // namespace jitbag::codegen
