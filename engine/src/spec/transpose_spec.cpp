#include "spec/transpose_spec.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "spec/bags_text.hpp"

namespace jitbag {

ForwardSpec bags_of(const TransposeSpec& spec) {
  ForwardSpec forward;
  forward.bags = spec.bags;
  forward.pooling = Pooling::sum;
  forward.weight_type = spec.weight_type;
  forward.id_type = spec.id_type;
  forward.padding_id = spec.padding_id;
  forward.bad_ids = spec.bad_ids;
  forward.id_alignment = size_of(spec.id_type);
  forward.counts = spec.counts;
  return validated(std::move(forward));
}

BackwardSpec sorting_of(const TransposeSpec& spec) {
  BackwardSpec sorting;
  sorting.forward = bags_of(spec);
  sorting.forward.weight_type = {};
  sorting.table_gradient = SparseGradient{};
  return sorting;
}

BackwardArguments sorting_of(const TransposeArguments& arguments) {
  BackwardArguments sorting;
  sorting.forward = arguments.forward;
  sorting.capacity = arguments.capacity;
  sorting.rows = arguments.rows;
  sorting.count = arguments.count;
  sorting.workspace = arguments.workspace;
  sorting.workspace_bytes = arguments.workspace_bytes;
  return sorting;
}

TransposeSpec validated(const TransposeSpec& spec) {
  static_cast<void>(bags_of(spec));
  static_cast<void>(name(spec.index_type));
  return spec;
}

std::string to_text(const TransposeSpec& spec) {
  std::string text =
      fmt::format("transpose bags={} ids={} padding={} bad_ids={} index={}", bags_text(spec.bags),
                  name(spec.id_type), spec.padding_id ? fmt::to_string(*spec.padding_id) : "none",
                  name(spec.bad_ids), name(spec.index_type));
  if (spec.weight_type) text += fmt::format(" weights={}", name(*spec.weight_type));
  if (spec.counts == Counts::on_device) text += " counts=on_device";
  return text;
}

}  // namespace jitbag
