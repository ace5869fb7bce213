#include <spdlog/fmt/fmt.h>

#include "codegen/constants.hpp"
#include "codegen/options.hpp"
#include "codegen/source_text.hpp"
#include "jitbag/specialisation.hpp"
#include "spec/gradient_table.hpp"

namespace jitbag {

Specialisation specialise(const BackwardSpec& raw, const Strategy& strategy, const Target& target) {
  const BackwardSpec spec = validated(raw);
  validate(strategy, spec, target);
  const std::string name = "embedding_bag_scatter.cu";
  const bool clears = std::holds_alternative<ClearedGradient>(spec.table_gradient);
  const std::string source =
      fmt::format("// {}\n// {}\n// {}\n\n{}{}constexpr bool clears_rows = {};\n{}\n{}",
                  to_text(spec), to_text(strategy), to_text(target), codegen::declarations() + "\n",
                  codegen::constants(gradient_table(spec), strategy), clears,
                  codegen::launch_mode(strategy.launch_mode), codegen::template_text(name));
  return {.name = name,
          .source = codegen::with_line_numbers(source, name),
          .entry = "embedding_bag_scatter",
          .target = target,
          .options = codegen::options()};
}

}  // namespace jitbag
