#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codegen/sorted_kernels.hpp"
#include "jitbag/backward.hpp"
#include "runtime/bag_arguments.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/sort_layout.hpp"
#include "sort_arguments.cuh"
#include "spec/arguments.hpp"

namespace jitbag {

static_assert(sizeof(StepParameters) == sizeof(OptimizerParameters) &&
              offsetof(StepParameters, epsilon) == offsetof(OptimizerParameters, epsilon) &&
              offsetof(StepParameters, seed) == offsetof(OptimizerParameters, seed));
static_assert(sizeof(SparseCount) == 2 * sizeof(long long));

/// The kernels' parameters, in the order in which they run. All three it is made of must live as
/// long.
class SortedArguments {
 public:
  SortedArguments(const BackwardSpec& spec, const SortLayout& layout,
                  const BackwardArguments& arguments)
      : spec_(spec), layout_(layout), arguments_(arguments) {}

  [[nodiscard]] BagArguments bags() const { return bag_arguments(arguments_.forward); }

  [[nodiscard]] std::int64_t uses_blocks() const {
    // Each block counts digits for itself, and adds its counts to the others' once.
    constexpr std::int64_t most = 512;
    const std::int64_t at_once = uses_block_threads / lanes_per_bag(spec_.forward);
    const std::int64_t rows = output_rows(spec_.forward, arguments_.forward);
    return std::clamp<std::int64_t>(divided_up(rows, at_once), 1, most);
  }

  [[nodiscard]] UsesArguments uses() const {
    return {.keys = words(layout_.keys[0]),
            .bags = at<int>(layout_.bags),
            .shares = at<void>(layout_.shares),
            .digits = words(layout_.digits),
            .passes = layout_.passes,
            .digit_bits = layout_.digit_bits};
  }

  [[nodiscard]] RadixPassArguments pass(int number) const {
    const int from = number % 2;
    const int to = 1 - from;
    return {
        .keys = words(layout_.keys[from]),
        .positions = number == 0 ? nullptr : words(layout_.positions[from]),
        .sorted_keys = words(layout_.keys[to]),
        .sorted_positions = words(layout_.positions[to]),
        .digits = words(layout_.digits) + std::int64_t{number} * most_digits,
        .tiles = at<unsigned long long>(layout_.pass_tiles + number * layout_.bytes_of_pass_tiles),
        .next_tile = words(layout_.next_tiles) + number,
        .count = static_cast<unsigned>(layout_.ids),
        .shift = number * layout_.digit_bits,
        .digit_bits = layout_.digit_bits};
  }

  [[nodiscard]] std::int64_t number_rows_blocks() const {
    return divided_up(layout_.ids,
                      std::int64_t{number_rows_block_threads} * keys_per_thread_of_number_rows);
  }

  [[nodiscard]] NumberRowsArguments number_rows() const {
    return {.keys = words(layout_.keys[last()]),
            .tiles = at<unsigned long long>(layout_.row_tiles),
            .next_tile = words(layout_.next_tiles) + layout_.passes,
            .rows_before = words(layout_.rows_before),
            .rows = arguments_.rows,
            .count = reinterpret_cast<long long*>(arguments_.count),
            .capacity = arguments_.capacity,
            .keys_count = static_cast<unsigned>(layout_.ids),
            .slice = static_cast<unsigned>(layout_.slice)};
  }

  [[nodiscard]] SortedUses sorted_uses() const {
    return {.keys = words(layout_.keys[last()]),
            .positions = words(layout_.positions[last()]),
            .bags = at<int>(layout_.bags),
            .shares = at<void>(layout_.shares),
            .rows_before = words(layout_.rows_before),
            .pieces = at<void>(layout_.pieces),
            .long_rows = words(layout_.long_rows),
            .long_rows_count = words(layout_.long_rows_count),
            .count = static_cast<unsigned>(layout_.ids),
            .slice = static_cast<unsigned>(layout_.slice)};
  }

  [[nodiscard]] std::int64_t join_blocks() const {
    // How many long rows there are is known on the device alone; in most batches they are few.
    constexpr std::int64_t most = 512;
    return std::min(layout_.slices, most);
  }

  [[nodiscard]] RowGradientArguments row_gradients() const {
    const bool is_applied = std::holds_alternative<AppliedGradient>(spec_.table_gradient);
    return {.output_gradient = arguments_.output_gradient,
            .rows = is_applied ? arguments_.updated_table : arguments_.table_gradient,
            .first_moment = arguments_.first_moment,
            .second_moment = arguments_.second_moment,
            .parameters = reinterpret_cast<const StepParameters*>(arguments_.parameters),
            .capacity = arguments_.capacity};
  }

 private:
  /// Which of the two buffers the last pass writes.
  [[nodiscard]] std::size_t last() const { return static_cast<std::size_t>(layout_.passes % 2); }

  template <class T>
  [[nodiscard]] T* at(std::int64_t offset) const {
    return static_cast<T*>(
        static_cast<void*>(static_cast<std::byte*>(arguments_.workspace) + offset));
  }
  [[nodiscard]] unsigned* words(std::int64_t offset) const { return at<unsigned>(offset); }

  const BackwardSpec& spec_;
  const SortLayout& layout_;
  const BackwardArguments& arguments_;
};

}  // namespace jitbag
