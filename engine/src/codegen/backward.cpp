#include <variant>

#include "codegen/own_template.hpp"
#include "spec/gradient_table.hpp"

namespace jitbag {

Specialisation specialise(const BackwardSpec& raw, const Strategy& strategy, const Target& target) {
  const BackwardSpec spec = validated(raw);
  validate(strategy, spec, target);
  const std::string name = "embedding_bag_scatter.cu";
  const std::string constants =
      codegen::constants(gradient_table(spec), strategy) +
      fmt::format("constexpr bool clears_rows = {};\n",
                  std::holds_alternative<ClearedGradient>(spec.table_gradient));
  return codegen::own_template(name, "embedding_bag_scatter",
                               codegen::source_of(name, to_text(spec), strategy, target, constants),
                               target);
}

}  // namespace jitbag
