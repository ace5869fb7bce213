#pragma once

#include <string>
#include <string_view>

#include "jitbag/forward_spec.hpp"

namespace jitbag::tools {

/// What a row scale's text may be, for messages.
inline constexpr const char* row_scale_form =
    "apart, apart+bias, none, fbgemm_inference, fbgemm_fused, or, within the row, "
    "in_row@OFFSET or in_row+bias@OFFSET, with :codes@OFFSET behind it where the codes do not "
    "come first";

/// Throws UsageError for a text that is none of these.
void check_row_scale(std::string_view text);

/// Gives the spec, which has its dim and its table type by now, the layout that a checked text
/// names; `fbgemm_inference` also rounds the row's bytes up to 16, as that module does on a GPU.
/// The type of the scale stays, but FBGEMM's layouts have one of their own. Throws UsageError for
/// a layout that does not exist for the type.
void set_row_scale(ForwardSpec& spec, std::string_view text);

}  // namespace jitbag::tools
