#include <algorithm>
#include <bit>
#include <variant>

#include "codegen/own_template.hpp"
#include "codegen/sorted_kernels.hpp"
#include "codegen/weight_gradient.hpp"
#include "runtime/forward_grid.hpp"
#include "spec/gradient_table.hpp"
#include "spec/warp.hpp"

namespace jitbag {
namespace {

std::string constant(std::string_view type, std::string_view name, auto value) {
  return fmt::format("constexpr {} {} = {};\n", type, name, value);
}

/// What becomes of a row's gradient.
struct RowConstants {
  static std::string text(std::string_view gradient, std::string_view optimizer, bool stochastic) {
    return constant("int", "row_gradient", fmt::format("{}_gradient", gradient)) +
           constant("int", "optimizer", fmt::format("{}_optimizer", optimizer)) +
           constant("bool", "stochastic_rounding", stochastic);
  }
  std::string operator()(const ClearedGradient&) const { return text("cleared", "no", false); }
  std::string operator()(const SparseGradient&) const { return text("sparse", "no", false); }
  std::string operator()(const AppliedGradient& applied) const {
    return text("applied", name(applied.optimizer), applied.stochastic_rounding);
  }
  std::string operator()(const auto&) const { return text("dense", "no", false); }
};

constexpr std::string_view row_enumerations = R"(
enum { dense_gradient, cleared_gradient, sparse_gradient, applied_gradient };
enum {
  no_optimizer,
  sgd_optimizer,
  plain_sgd_optimizer,
  momentum_optimizer,
  adagrad_optimizer,
  row_wise_adagrad_optimizer,
  adam_optimizer
};
)";

/// All that the kernels of one spec and shape have in common.
struct Kernels {
  const BackwardSpec& spec;
  const Strategy& shape;
  const Target& target;

  [[nodiscard]] std::string constants() const {
    return std::string(silence) + codegen::constants(gradient_table(spec), shape);
  }

  /// Those, and what becomes of a row's gradient.
  [[nodiscard]] std::string row_constants() const {
    return constants() + std::string(row_enumerations) +
           std::visit(RowConstants{}, spec.table_gradient);
  }

  [[nodiscard]] Specialisation of_spec(const std::string& name, const std::string& entry,
                                       const std::string& constants) const {
    return codegen::own_template(
        name, entry, codegen::source_of(name, to_text(spec), shape, target, constants), target);
  }

  /// A kernel that any spec may share.
  [[nodiscard]] Specialisation of_none(const std::string& name, const std::string& entry,
                                       const std::string& constants) const {
    return codegen::own_template(
        name, entry,
        fmt::format("// {}\n{}", to_text(target),
                    codegen::body_of(name, std::string(silence) + constants, shape.launch_mode)),
        target);
  }
};

Specialisation radix_pass(const Kernels& kernels, int keys_per_thread) {
  return kernels.of_none("radix_pass.cu", "radix_pass",
                         constant("int", "block_threads", pass_block_threads) +
                             constant("int", "keys_per_thread", keys_per_thread));
}

std::vector<Specialisation> sorted(const Kernels& kernels) {
  const BackwardSpec& spec = kernels.spec;
  Strategy uses_shape = kernels.shape;
  uses_shape.block_threads = uses_block_threads;
  const Kernels uses{spec, uses_shape, kernels.target};
  Strategy join_shape = kernels.shape;
  join_shape.block_threads = join_block_threads;
  const Kernels join{spec, join_shape, kernels.target};
  std::vector<Specialisation> all = {
      uses.of_spec(
          "embedding_bag_uses.cu", "embedding_bag_uses",
          uses.constants() + constant("int", "lanes_per_bag", lanes_per_bag(spec.forward))),
      radix_pass(kernels, keys_per_thread_of_small_pass),
      radix_pass(kernels, keys_per_thread_of_large_pass),
      kernels.of_spec(
          "reduce_uses.cu", "reduce_uses",
          kernels.row_constants() + constant("int", "chunk_uses", chunk_uses(kernels.shape))),
      join.of_spec("join_pieces.cu", "join_pieces", join.row_constants())};
  if (std::holds_alternative<SparseGradient>(spec.table_gradient)) {
    all.push_back(kernels.of_none(
        "number_rows.cu", "number_rows",
        constant("int", "block_threads", number_rows_block_threads) +
            constant("int", "keys_per_thread", keys_per_thread_of_number_rows) +
            fmt::format("using Id = {};\n", codegen::cuda_type(spec.forward.id_type))));
  }
  return all;
}

/// What comes before the additions to a sparse gradient: which rows there are, and in which places.
std::vector<Specialisation> marking(const Kernels& kernels) {
  const BackwardSpec& spec = kernels.spec;
  if (!std::holds_alternative<SparseGradient>(spec.table_gradient)) return {};
  Strategy shape = kernels.shape;
  shape.block_threads = marking_block_threads;
  const Kernels marking{spec, shape, kernels.target};
  return {marking.of_spec(
              "mark_rows.cu", "mark_rows",
              marking.constants() + constant("int", "lanes_per_bag", lanes_per_bag(spec.forward))),
          marking.of_spec("number_marks.cu", "number_marks", marking.constants())};
}

Specialisation scattered(const Kernels& kernels) {
  return kernels.of_spec("embedding_bag_scatter.cu", "embedding_bag_scatter",
                         kernels.row_constants());
}

Specialisation merged(const Kernels& kernels) {
  return kernels.of_spec(
      "embedding_bag_merge.cu", "embedding_bag_merge",
      kernels.row_constants() +
          constant("int", "ids_at_once",
                   merged_ids_of_bag(gradient_table(kernels.spec), rows_per_block(kernels.shape))));
}

/// The kernels of the table's gradient, which are the same with that of the weights and without.
std::vector<Specialisation> of_table(BackwardSpec spec, const BackwardStrategy& strategy,
                                     const Target& target) {
  if (std::holds_alternative<std::monostate>(spec.table_gradient)) return {};
  spec.weight_gradient_type.reset();
  const Kernels kernels{spec, strategy.shape, target};
  if (strategy.method == BackwardMethod::sort) return sorted(kernels);
  std::vector<Specialisation> all = marking(kernels);
  all.push_back(strategy.method == BackwardMethod::merge ? merged(kernels) : scattered(kernels));
  return all;
}

}  // namespace

int chunk_uses(const Strategy& shape) {
  const int uses = std::min(warp_lanes, 4 * shape.lanes_per_row);
  return static_cast<int>(divided_up(uses, shape.rows_in_flight)) * shape.rows_in_flight;
}

std::int64_t reduce_shared_bytes(const BackwardSpec& spec, const Strategy& shape) {
  const std::int64_t value = gradient_table(spec).table_type == DataType::float64 ? 8 : 4;
  const auto poolings = static_cast<std::int64_t>(spec.forward.pooling.size());
  // A use is three words and its shares, in pieces of 16 bytes.
  const std::int64_t of_use = divided_up(divided_up(12, value) * value + poolings * value, 16) * 16;
  const std::int64_t groups = shape.block_threads / shape.lanes_per_row;
  return groups * chunk_uses(shape) * of_use;
}

std::int64_t most_merged_ids(const ForwardSpec& table) {
  // Of 48 KiB, less what the bags take. An id has two slots of a word, its weight, and its number
  // in the order of rows.
  constexpr std::int64_t bytes = 49152 - most_merged_bags * 32 - 256;
  const std::int64_t value = table.table_type == DataType::float64 ? 8 : 4;
  const std::int64_t of_id = 8 + size_of(table.id_type) + (table.weight_type ? value : 0) + 2;
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes / of_id)));
}

std::int64_t merged_ids_of_bag(const ForwardSpec& table, std::int64_t bags) {
  if (table.pooling.has(Pooling::none)) return 1;
  const std::int64_t most = most_merged_ids(table) / bags;
  const auto* fixed = std::get_if<FixedBags>(&table.bags);
  // Bags of offsets are short for the most part.
  constexpr std::int64_t most_of_csr_bag = 16;
  if (fixed == nullptr) return std::min(most, most_of_csr_bag);
  return std::clamp<std::int64_t>(fixed->size, 1, most);
}

int lanes_per_bag(const ForwardSpec& spec) {
  if (spec.pooling.has(Pooling::none)) return 1;
  const auto* fixed = std::get_if<FixedBags>(&spec.bags);
  if (fixed == nullptr) return warp_lanes / 2;
  return static_cast<int>(std::bit_ceil(
      static_cast<std::uint64_t>(std::clamp<std::int64_t>(fixed->size, 1, warp_lanes))));
}

std::vector<Specialisation> specialise(const BackwardSpec& raw, const BackwardStrategy& strategy,
                                       const Target& target) {
  const BackwardSpec spec = validated(raw);
  validate(strategy, spec, target);
  std::vector<Specialisation> all = of_table(spec, strategy, target);
  if (spec.weight_gradient_type) {
    const LaunchMode mode = strategy.shape.launch_mode;
    all.insert(all.begin(), specialise_weight_gradient(spec, mode, target));
  }
  return all;
}

}  // namespace jitbag
