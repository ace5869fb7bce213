#include "spec/gradient_table.hpp"

#include "spec/refuse.hpp"

namespace jitbag {

ForwardSpec gradient_table(const BackwardSpec& spec) {
  const auto* cleared = std::get_if<ClearedGradient>(&spec.table_gradient);
  const auto* dense = cleared ? &cleared->of : std::get_if<DenseGradient>(&spec.table_gradient);
  const bool is_wide = dense != nullptr && (cleared != nullptr || size_of(dense->type) >= 4);
  if (!is_wide || spec.weight_gradient_type || (spec.deterministic && !cleared)) {
    refuse(
        "There is no kernel yet for \"{}\"; on the GPU ask for a dense gradient of float32 or "
        "float64, not deterministic and without that of the weights, or compute it on the CPU.",
        to_text(spec));
  }
  ForwardSpec table = spec.forward;
  table.table_type = dense->type;
  table.row_scale = {};
  table.row_stride = dense->row_stride;
  table.alignment = dense->alignment;
  return table;
}

}  // namespace jitbag
