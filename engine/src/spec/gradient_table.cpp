#include "spec/gradient_table.hpp"

#include <numeric>

#include "spec/alignment.hpp"
#include "spec/refuse.hpp"

namespace jitbag {
namespace {

/// Fills in where one kind of gradient goes.
struct Describe {
  ForwardSpec& table;

  bool operator()(std::monostate) const { return false; }

  bool operator()(const DenseGradient& dense) const {
    table.table_type = dense.type;
    table.row_scale = {};
    table.row_stride = dense.row_stride;
    table.alignment = dense.alignment;
    return true;
  }

  bool operator()(const ClearedGradient& cleared) const { return (*this)(cleared.of); }

  bool operator()(const SparseGradient& sparse) const {
    return (*this)(DenseGradient{.type = sparse.type,
                                 .row_stride = table.dim,
                                 .alignment = row_alignment(table.dim * size_of(sparse.type))});
  }

  bool operator()(const AppliedGradient&) const { return true; }
};

}  // namespace

ForwardSpec gradient_table(const BackwardSpec& spec) {
  ForwardSpec table = spec.forward;
  if (!std::visit(Describe{table}, spec.table_gradient) || spec.weight_gradient_type) {
    refuse(
        "There is no kernel yet for \"{}\"; on the GPU ask for a gradient of the table alone, or "
        "compute it on the CPU.",
        to_text(spec));
  }
  return table;
}

bool can_scatter(const BackwardSpec& spec) {
  if (std::holds_alternative<ClearedGradient>(spec.table_gradient)) return true;
  const auto* dense = std::get_if<DenseGradient>(&spec.table_gradient);
  return dense != nullptr && size_of(dense->type) >= 4 && !spec.deterministic;
}

std::int64_t row_alignment(std::int64_t row_bytes) {
  return std::gcd(widest_alignment, row_bytes);
}

}  // namespace jitbag
