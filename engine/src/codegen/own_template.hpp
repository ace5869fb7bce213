#pragma once

#include <spdlog/fmt/fmt.h>

#include <string>
#include <string_view>

#include "codegen/constants.hpp"
#include "codegen/options.hpp"
#include "codegen/source_text.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag::codegen {

/// The specialisation of one of jitbag's own templates, of which the whole source is given.
[[nodiscard]] inline Specialisation own_template(const std::string& name, const std::string& entry,
                                                 const std::string& source, const Target& target) {
  return {.name = name,
          .source = with_line_numbers(source, name),
          .entry = entry,
          .target = target,
          .options = options()};
}

/// What every source has below its first comments.
[[nodiscard]] inline std::string body_of(const std::string& name, const std::string& constants,
                                         LaunchMode mode) {
  return fmt::format("\n{}\n{}{}\n{}", declarations(), constants, launch_mode(mode),
                     template_text(name));
}

/// The source for one spec and strategy: what they are in words, their constants, the template.
[[nodiscard]] inline std::string source_of(const std::string& name, const std::string& spec,
                                           const Strategy& strategy, const Target& target,
                                           const std::string& constants) {
  return fmt::format("// {}\n// {}\n// {}\n{}", spec, to_text(strategy), to_text(target),
                     body_of(name, constants, strategy.launch_mode));
}

}  // namespace jitbag::codegen
