#pragma once

#include <string>

#include "jitbag/artifact.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag::compiler {

/// Compiles with the given library, opening it if this process has not yet. Fills in everything but
/// key, origin and the times of other steps. Throws Error: missing_library, compile_failed.
[[nodiscard]] Artifact compile(const Specialisation& specialisation, const Library& library);

/// One sentence for when `find` finds nothing.
[[nodiscard]] std::string missing_sentence();

}  // namespace jitbag::compiler
