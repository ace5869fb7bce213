#include "codegen/own_template.hpp"

namespace jitbag {

Specialisation specialise(const ForwardSpec& raw, const Strategy& strategy, const Target& target) {
  const ForwardSpec spec = validated(raw);
  validate(strategy, spec, target);
  const std::string name = "embedding_bag_forward.cu";
  const std::string constants =
      codegen::constants(spec, strategy) + codegen::end_constants(spec.end);
  return codegen::own_template(name, "embedding_bag",
                               codegen::source_of(name, to_text(spec), strategy, target, constants),
                               target);
}

}  // namespace jitbag
