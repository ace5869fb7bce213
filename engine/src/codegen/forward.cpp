#include <spdlog/fmt/fmt.h>

#include "codegen/constants.hpp"
#include "codegen/options.hpp"
#include "codegen/source_text.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag {

Specialisation specialise(const ForwardSpec& raw, const Strategy& strategy, const Target& target) {
  const ForwardSpec spec = validated(raw);
  validate(strategy, spec, target);
  const std::string name = "embedding_bag_forward.cu";
  const std::string source =
      fmt::format("// {}\n// {}\n// {}\n\n{}{}{}\n{}", to_text(spec), to_text(strategy),
                  to_text(target), codegen::declarations() + "\n",
                  codegen::constants(spec, strategy) + codegen::end_constants(spec.end),
                  codegen::launch_mode(strategy.launch_mode), codegen::template_text(name));
  return {.name = name,
          .source = codegen::with_line_numbers(source, name),
          .entry = "embedding_bag",
          .target = target,
          .options = codegen::options()};
}

}  // namespace jitbag
