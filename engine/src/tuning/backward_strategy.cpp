#include <algorithm>
#include <bit>

#include "codegen/sorted_kernels.hpp"
#include "jitbag/backward.hpp"
#include "runtime/forward_grid.hpp"
#include "spec/gradient_table.hpp"
#include "spec/refuse.hpp"
#include "spec/warp.hpp"

namespace jitbag {
namespace {

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

/// The more ids a block brings together, the fewer additions there are, but small batches must
/// leave blocks for all multiprocessors. H200, four million ids by a power law, rows of 512 bytes:
/// 607 us by 256 ids, 430 by 2048.
Strategy merge_shape(const BackwardSpec& spec, const Target& target,
                     std::optional<std::int64_t> expected_batch) {
  constexpr std::int64_t blocks_that_fill_the_device = 512;
  constexpr std::int64_t usual_batch = 8192;
  constexpr std::int64_t most_bags_per_group = 64;
  const ForwardSpec table = gradient_table(spec);
  Strategy shape = default_strategy(table, target);
  shape.bag_lanes = 1;
  const auto poolings = static_cast<int>(spec.forward.pooling.size());
  shape.rows_in_flight = std::max(1, 8 / (poolings * shape.vectors_per_lane));
  const std::int64_t ids_of_bag = merged_ids_of_bag(table, 1);
  const std::int64_t most_ids = most_merged_ids(table);
  const std::int64_t ids_of_block =
      std::clamp<std::int64_t>(expected_batch.value_or(usual_batch), 1, most_blocks) * ids_of_bag /
      blocks_that_fill_the_device;
  const std::int64_t bags = std::clamp<std::int64_t>(ids_of_block, 64, most_ids) / ids_of_bag;
  // Large blocks for wide rows alone: by 512 threads rows of 128 bytes took 224 us in place of 217.
  const bool is_large = ids_of_block >= 512 && shape.lanes_per_row >= 16;
  shape.block_threads = std::max(shape.lanes_per_row, is_large ? 512 : 256);
  const std::int64_t groups = shape.block_threads / shape.lanes_per_row;
  shape.bags_per_group = static_cast<int>(std::clamp<std::int64_t>(
      std::min<std::int64_t>(bags, most_merged_bags) / groups, 1, most_bags_per_group));
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

/// As far as it is known; a hint of any size is legal.
std::optional<double> expected_ids(const BackwardSpec& spec, const ExpectedIds& expected) {
  if (!expected.batch) return {};
  const auto* fixed = std::get_if<FixedBags>(&spec.forward.bags);
  return static_cast<double>(*expected.batch) *
         static_cast<double>(fixed != nullptr ? fixed->size : 1);
}

constexpr double many_ids = 1 << 17;

/// Additions to one row wait for each other, 6 ns each.
bool repeat(double ids, const ExpectedIds& expected) {
  constexpr double additions_that_pay = 350;
  return expected.top_share && *expected.top_share * ids > additions_that_pay;
}

/// Whether ids are to meet before they are added. To bring them together takes 2 us and a tenth of
/// the additions' time. Where it is not known how ids repeat, all but small batches lose little by
/// it, and gain much where they do repeat. H200, rows of 512 bytes: 381 us to 368 by scatter for a
/// million uniform ids, 430 to 3791 for four million by a power law.
bool gains_by_merging(const BackwardSpec& spec, const ExpectedIds& expected) {
  const std::optional<double> ids = expected_ids(spec, expected);
  if (!can_merge(spec) || !ids) return false;
  return expected.top_share ? repeat(*ids, expected) : *ids >= many_ids;
}

/// A sparse gradient's rows are marked before they are added to, and marks of many ids wait for
/// each other as additions do. H200: 7 to 21 us in place of 25 to 46 by a sort for 8 to 64 thousand
/// ids, but 448 to 265 for a million.
bool gains_by_sorting(const BackwardSpec& spec, const ExpectedIds& expected) {
  if (!can_scatter(spec)) return true;
  if (!std::holds_alternative<SparseGradient>(spec.table_gradient)) return false;
  const std::optional<double> ids = expected_ids(spec, expected);
  return !ids || *ids >= many_ids || repeat(*ids, expected);
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

void validate_merge(const Strategy& shape, const BackwardSpec& spec) {
  if (!can_merge(spec)) {
    refuse("The method is merge for \"{}\", which has no sums to be added to in memory; use {}.",
           to_text(spec), can_scatter(spec) ? "scatter" : "sort");
  }
  if (shape.bag_lanes != 1) {
    refuse("The strategy's bag_lanes is {}; in the merge method it is 1.", shape.bag_lanes);
  }
  if (const std::int64_t bags = rows_per_block(shape); bags > most_merged_bags) {
    refuse("The strategy has {} bags to a block; in the merge method {} is the most.", bags,
           most_merged_bags);
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
                                  const ExpectedIds& expected) {
  const BackwardSpec spec = validated(raw);
  if (expected.top_share && !(*expected.top_share >= 0 && *expected.top_share <= 1)) {
    refuse("The expected top_share is {}; it is a part of the ids, from 0 to 1.",
           *expected.top_share);
  }
  const BackwardMethod method = gains_by_sorting(spec, expected)   ? BackwardMethod::sort
                                : gains_by_merging(spec, expected) ? BackwardMethod::merge
                                                                   : BackwardMethod::scatter;
  return default_strategy(spec, method, target, expected.batch);
}

BackwardStrategy default_strategy(const BackwardSpec& raw, BackwardMethod method,
                                  const Target& target,
                                  std::optional<std::int64_t> expected_batch) {
  const BackwardSpec spec = validated(raw);
  switch (method) {
    case BackwardMethod::scatter:
      return {method, scatter_shape(spec, target, expected_batch)};
    case BackwardMethod::merge:
      return {method, merge_shape(spec, target, expected_batch)};
    case BackwardMethod::sort:
      return {method, sort_shape(spec, target)};
  }
  return {};
}

void validate(const BackwardStrategy& strategy, const BackwardSpec& raw, const Target& target) {
  const BackwardSpec spec = validated(raw);
  validate(strategy.shape, gradient_table(spec), target);
  switch (strategy.method) {
    case BackwardMethod::scatter:
      return validate_scatter(strategy.shape, spec);
    case BackwardMethod::merge:
      return validate_merge(strategy.shape, spec);
    case BackwardMethod::sort:
      return validate_sort(strategy.shape, spec);
  }
}

}  // namespace jitbag
