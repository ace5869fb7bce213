#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>

#include "codegen/sorted_kernels.hpp"
#include "jitbag/backward.hpp"
#include "runtime/forward_grid.hpp"
#include "spec/gradient_table.hpp"
#include "spec/refuse.hpp"

namespace jitbag {
namespace {

constexpr int warp_lanes = 32;

bool is_applied(const BackwardSpec& spec) {
  return std::holds_alternative<AppliedGradient>(spec.table_gradient);
}

Strategy scatter_shape(const BackwardSpec& spec, const Target& target,
                       std::optional<std::int64_t> expected_batch) {
  Strategy shape = default_strategy(gradient_table(spec), target, expected_batch);
  // Few registers: larger blocks start sooner (bags of one id: 1.2 us in place of 1.3, H200).
  shape.block_threads = std::max(shape.block_threads, 256);
  // The lanes over a bag meet in shuffles alone.
  shape.bag_lanes = std::min(shape.bag_lanes, std::max(1, warp_lanes / shape.lanes_per_row));
  return shape;
}

/// What was fastest over the three large and two small shapes of bench_training_step (H200): few
/// rows in flight in many warps. A dense gradient of wide rows is added to half a row after the
/// other, which leaves more of the outputs' gradients in the L2 cache.
Strategy sort_shape(const BackwardSpec& spec, const Target& target) {
  const ForwardSpec table = gradient_table(spec);
  const bool is_dense = std::holds_alternative<DenseGradient>(spec.table_gradient);
  Strategy shape = default_strategy(table, target);
  shape.bag_lanes = 1;
  shape.bags_per_group = 1;
  // Sums over a row's lanes are made by shuffles.
  shape.lanes_per_row = static_cast<int>(std::bit_ceil(static_cast<unsigned>(shape.lanes_per_row)));
  if (is_dense) shape.lanes_per_row = std::min(shape.lanes_per_row, warp_lanes / 2);
  // At most 64 groups share a block's memory.
  shape.block_threads = std::min(is_dense ? 128 : 256, 64 * shape.lanes_per_row);
  if (is_applied(spec)) {
    const std::int64_t vectors = row_bytes(table) / shape.vector_bytes;
    shape.vectors_per_lane =
        static_cast<int>(std::max<std::int64_t>(1, divided_up(vectors, shape.lanes_per_row)));
  }
  // Of each use registers hold the gradients of all poolings, winners, and, where rows are stepped,
  // the row and its moments.
  const int of_use = static_cast<int>(spec.forward.pooling.size()) + (spec.forward.winners ? 1 : 0);
  shape.rows_in_flight =
      std::max(1, (is_applied(spec) ? 2 : 4) / (of_use * shape.vectors_per_lane));
  return shape;
}

/// Additions to one row wait for each other, and whether ids repeat is not known: for a large batch
/// the rule takes what loses little where they do not and gains much where they do. H200, rows of
/// 512 bytes: 459 us by sorting to 374 by additions for a million uniform ids, 1062 to 3847 for
/// four million by a power law.
bool is_large(const BackwardSpec& spec, std::optional<std::int64_t> expected_batch) {
  constexpr std::int64_t ids_that_pay = std::int64_t{1} << 19;
  if (!expected_batch) return false;
  const auto* fixed = std::get_if<FixedBags>(&spec.forward.bags);
  return *expected_batch * (fixed != nullptr ? fixed->size : 1) >= ids_that_pay;
}

void validate_scatter(const Strategy& shape, const BackwardSpec& spec) {
  if (!can_scatter(spec)) {
    refuse("The method is scatter for \"{}\", whose rows must be written once; use sort.",
           to_text(spec));
  }
  const int group = shape.lanes_per_row * shape.bag_lanes;
  if (shape.bag_lanes > 1 && group > warp_lanes) {
    refuse(
        "The strategy has {} lanes over the bag of {} each; in backward they must fit a warp, "
        "32 in all.",
        shape.bag_lanes, shape.lanes_per_row);
  }
}

void validate_sort(const Strategy& shape, const BackwardSpec& spec) {
  if (!sums_rows(spec)) {
    refuse("The method is sort for \"{}\", for which nothing is summed; use scatter.",
           to_text(spec));
  }
  if (shape.bag_lanes != 1 || shape.bags_per_group != 1) {
    refuse("The strategy has bag_lanes {} and bags_per_group {}; in the sort method both are 1.",
           shape.bag_lanes, shape.bags_per_group);
  }
  if (shape.lanes_per_row > warp_lanes ||
      !std::has_single_bit(static_cast<unsigned>(shape.lanes_per_row))) {
    refuse(
        "The strategy's lanes_per_row is {}; in the sort method it must be a power of two up to "
        "32.",
        shape.lanes_per_row);
  }
  constexpr std::int64_t shared_limit = 49152;
  if (const std::int64_t bytes = reduce_shared_bytes(spec, shape); bytes > shared_limit) {
    refuse(
        "The strategy has blocks of {} threads and {} lanes to a row, which would take {} bytes "
        "of shared memory; use smaller blocks.",
        shape.block_threads, shape.lanes_per_row, bytes);
  }
  if (is_applied(spec) && tiles_of(gradient_table(spec), shape) > 1) {
    refuse(
        "The strategy has {} vectors of {} bytes for each of {} lanes, too few for a row of {} "
        "elements that is stepped as a whole; use more, or a smaller dim.",
        shape.vectors_per_lane, shape.vector_bytes, shape.lanes_per_row, spec.forward.dim);
  }
}

}  // namespace

BackwardStrategy default_strategy(const BackwardSpec& raw, const Target& target,
                                  std::optional<std::int64_t> expected_batch) {
  const BackwardSpec spec = validated(raw);
  const bool scatters = can_scatter(spec) && (!sums_rows(spec) || !is_large(spec, expected_batch));
  return default_strategy(spec, scatters ? BackwardMethod::scatter : BackwardMethod::sort, target,
                          expected_batch);
}

BackwardStrategy default_strategy(const BackwardSpec& raw, BackwardMethod method,
                                  const Target& target,
                                  std::optional<std::int64_t> expected_batch) {
  const BackwardSpec spec = validated(raw);
  return {method, method == BackwardMethod::scatter ? scatter_shape(spec, target, expected_batch)
                                                    : sort_shape(spec, target)};
}

void validate(const BackwardStrategy& strategy, const BackwardSpec& raw, const Target& target) {
  const BackwardSpec spec = validated(raw);
  validate(strategy.shape, gradient_table(spec), target);
  if (strategy.method == BackwardMethod::scatter) {
    validate_scatter(strategy.shape, spec);
  } else {
    validate_sort(strategy.shape, spec);
  }
}

std::string to_text(const BackwardStrategy& strategy) {
  return fmt::format("{} {}", strategy.method == BackwardMethod::scatter ? "scatter" : "sort",
                     to_text(strategy.shape));
}

}  // namespace jitbag
