#include "spec/gradient_table.hpp"

#include <numeric>

#include "spec/alignment.hpp"

namespace jitbag {
namespace {

/// Fills in where one kind of gradient goes.
struct Describe {
  ForwardSpec& table;

  void operator()(std::monostate) const {}

  void operator()(const DenseGradient& dense) const {
    table.table_type = dense.type;
    table.row_scale = {};
    table.row_stride = dense.row_stride;
    table.alignment = dense.alignment;
  }

  void operator()(const ClearedGradient& cleared) const { (*this)(cleared.of); }

  void operator()(const SparseGradient& sparse) const {
    (*this)(DenseGradient{.type = sparse.type,
                          .row_stride = table.dim,
                          .alignment = row_alignment(table.dim * size_of(sparse.type))});
  }

  void operator()(const AppliedGradient&) const {}
};

bool is_added_in_memory(DataType type) {
  return type == DataType::float32 || type == DataType::float64;
}

}  // namespace

ForwardSpec gradient_table(const BackwardSpec& spec) {
  ForwardSpec table = spec.forward;
  std::visit(Describe{table}, spec.table_gradient);
  return table;
}

bool sums_rows(const BackwardSpec& spec) {
  return !std::holds_alternative<ClearedGradient>(spec.table_gradient) &&
         !std::holds_alternative<std::monostate>(spec.table_gradient);
}

bool can_scatter(const BackwardSpec& spec) {
  if (!sums_rows(spec)) return true;
  const auto* applied = std::get_if<AppliedGradient>(&spec.table_gradient);
  const bool adds = applied == nullptr || applied->optimizer == Optimizer::plain_sgd;
  return adds && is_added_in_memory(gradient_table(spec).table_type) && !spec.deterministic;
}

bool can_merge(const BackwardSpec& spec) {
  const bool is_maximum = spec.forward.pooling == Poolings{Pooling::max};
  return can_scatter(spec) && sums_rows(spec) && !is_maximum;
}

std::int64_t row_alignment(std::int64_t row_bytes) {
  return std::gcd(widest_alignment, row_bytes);
}

}  // namespace jitbag
