#include "codegen/weight_gradient.hpp"

#include <string>
#include <variant>

#include "codegen/own_template.hpp"
#include "tuning/weight_gradient_shape.hpp"

namespace jitbag {
namespace {

/// Whether sums are float64 where the table's type does not ask for it.
bool is_wide(const BackwardSpec& spec) {
  return spec.forward.output_type == DataType::float64 ||
         spec.weight_gradient_type == DataType::float64;
}

}  // namespace

Specialisation specialise_weight_gradient(const BackwardSpec& spec, LaunchMode mode,
                                          const Target& target) {
  // One kernel for all that differ in these alone.
  BackwardSpec of_weights = spec;
  of_weights.table_gradient = std::monostate{};
  of_weights.deterministic = false;
  const Strategy shape = weight_gradient_shape(spec, mode);
  const std::string name = "embedding_bag_weight_gradient.cu";
  const std::string constants =
      codegen::constants(spec.forward, shape, is_wide(spec)) +
      fmt::format("using WeightGradient = {};\n", codegen::cuda_type(*spec.weight_gradient_type));
  return codegen::own_template(
      name, "embedding_bag_weight_gradient",
      codegen::source_of(name, to_text(of_weights), shape, target, constants), target);
}

}  // namespace jitbag
