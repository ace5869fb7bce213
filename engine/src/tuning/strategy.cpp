#include "jitbag/strategy.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "jitbag/error.hpp"
#include "spec/warp.hpp"
#include "tuning/rows_that_fit.hpp"

namespace jitbag {
namespace {

constexpr int static_shared_limit = 48 * 1024;  // bytes a block may declare on every architecture
constexpr int pool_words = 64;                  // of sums and maxima that a lane may hold
constexpr int most_vectors = 64;                // of a row that a lane may have

/// The widest load that divides every row and its address.
int widest_vector(const ForwardSpec& spec) {
  const std::int64_t first = std::gcd(spec.alignment, spec.row_scale.codes_offset);
  return static_cast<int>(std::gcd(std::gcd(std::int64_t{16}, first),
                                   std::gcd(row_bytes(spec), row_stride_bytes(spec))));
}

std::int64_t vectors_per_row(const ForwardSpec& spec, const Strategy& strategy) {
  return row_bytes(spec) / strategy.vector_bytes;
}

int elements_per_vector(const ForwardSpec& spec, int vector_bytes) {
  return static_cast<int>(std::int64_t{8} * vector_bytes / bits_of(spec.table_type));
}

/// 32-bit words that a lane keeps for each element while a bag is pooled.
int words_per_element(const ForwardSpec& spec) {
  const int value = spec.table_type == DataType::float64 ? 2 : 1;
  const int winner = spec.addressing == Addressing::bits32 ? 1 : 2;
  const bool needs_sum = std::any_of(spec.pooling.begin(), spec.pooling.end(),
                                     [](Pooling pooling) { return pooling != Pooling::max; });
  return (needs_sum ? value : 0) + (spec.pooling.has(Pooling::max) ? value : 0) +
         (spec.winners ? winner : 0);
}

const FixedBags* fixed_bags(const ForwardSpec& spec) {
  return std::get_if<FixedBags>(&spec.bags);
}

int clamp_to_int(std::int64_t value, int low, int high) {
  return static_cast<int>(std::clamp<std::int64_t>(value, low, high));
}

/// Lanes and vectors that cover a row of `vectors`, in whole warps where it is wide, with no more
/// sums in a lane than it has registers for. A sum over the row needs it whole.
void spread_over_row(Strategy& strategy, const ForwardSpec& spec) {
  const std::int64_t vectors = vectors_per_row(spec, strategy);
  const int words = elements_per_vector(spec, strategy.vector_bytes) * words_per_element(spec);
  const int most = spec.end.row_sum.empty() ? std::clamp(pool_words / words, 1, 4) : most_vectors;
  strategy.lanes_per_row = clamp_to_int(vectors, 1, warp_lanes);
  strategy.vectors_per_lane = clamp_to_int((vectors + warp_lanes - 1) / warp_lanes, 1, most);
}

/// The widest vector that leaves room for its sums.
int vector_with_room(const ForwardSpec& spec, int vector_bytes) {
  while (vector_bytes > size_of(spec.table_type) &&
         elements_per_vector(spec, vector_bytes) * words_per_element(spec) > pool_words / 2) {
    vector_bytes /= 2;
  }
  return vector_bytes;
}

/// Shuffles across the bag need lanes in a power of two.
void round_lanes_up(Strategy& strategy) {
  strategy.lanes_per_row =
      static_cast<int>(std::bit_ceil(static_cast<unsigned>(strategy.lanes_per_row)));
}

bool is_power_of_two(int value) {
  return std::has_single_bit(static_cast<unsigned>(value));
}

[[noreturn]] void refuse_value(std::string_view field, std::int64_t value,
                               std::string_view allowed) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("The strategy's {} is {}; it must be {}.", field, value, allowed));
}

/// As `shared_words` in the template pools.cuh.
int shared_bytes(const Strategy& strategy, const ForwardSpec& spec) {
  const int group = strategy.lanes_per_row * strategy.bag_lanes;
  if (group <= warp_lanes) return 0;
  const int weight_words = !spec.pooling.has(Pooling::mean_by_weights) ? 0
                           : spec.table_type == DataType::float64      ? 2
                                                                       : 1;
  const int elements = strategy.vectors_per_lane * elements_per_vector(spec, strategy.vector_bytes);
  const int words = elements * words_per_element(spec) + weight_words + 1;
  return strategy.block_threads / warp_lanes * words * strategy.lanes_per_row * 4;
}

bool is_valid(const Strategy& strategy, const ForwardSpec& spec, const Target& target) {
  try {
    validate(strategy, spec, target);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Groups of lanes over the bag, for a batch too small to fill the device with one group for a bag.
int lanes_across_bag(const ForwardSpec& spec, const Strategy& strategy,
                     std::optional<std::int64_t> expected_batch) {
  const FixedBags* fixed = fixed_bags(spec);
  if (!expected_batch || !fixed) return 1;
  constexpr std::int64_t lanes_that_fill =
      std::int64_t{132} * 1024;  // half the lanes an H200 can hold
  const std::int64_t lanes =
      std::clamp<std::int64_t>(*expected_batch, 1, lanes_that_fill) * strategy.lanes_per_row;
  // Fewer than four rows a lane and the reduction costs more than the gather saves.
  const std::int64_t most = std::min<std::int64_t>(fixed->size / 4, lanes_that_fill / lanes);
  const int limit = strategy.block_threads /
                    static_cast<int>(std::bit_ceil(static_cast<unsigned>(strategy.lanes_per_row)));
  return std::max(1, std::min(limit, static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(
                                         std::max<std::int64_t>(most, 1))))));
}

}  // namespace

// The figures behind the rule are those of bench/results/: every candidate on every shape of the
// seed sweep, of large batches and of the four traces, on an H200.
Strategy default_strategy(const ForwardSpec& raw, const Target& target,
                          std::optional<std::int64_t> expected_batch) {
  const ForwardSpec spec = validated(raw);
  const bool keeps_rows = spec.pooling.has(Pooling::none);
  const FixedBags* fixed = fixed_bags(spec);
  const bool is_regular = fixed || keeps_rows;
  Strategy strategy;
  // Bags of many lengths leave lanes idle: narrower loads spread each row over more of them.
  strategy.vector_bytes =
      vector_with_room(spec, is_regular ? widest_vector(spec) : std::min(widest_vector(spec), 8));
  strategy.block_threads = is_regular ? 128 : 256;
  spread_over_row(strategy, spec);
  strategy.bag_lanes = keeps_rows ? 1 : lanes_across_bag(spec, strategy, expected_batch);
  if (strategy.bag_lanes > 1 || !spec.end.row_sum.empty()) round_lanes_up(strategy);
  strategy.rows_in_flight =
      rows_that_fit(spec, strategy, keeps_rows ? 1 : (fixed ? clamp_to_int(fixed->size, 1, 8) : 4));
  strategy.launch_mode = target.has_dependent_launch() ? LaunchMode::dependent : LaunchMode::plain;
  return strategy;
}

std::vector<Strategy> candidate_strategies(const ForwardSpec& raw, const Target& target) {
  const ForwardSpec spec = validated(raw);
  std::vector<Strategy> found = {default_strategy(spec, target)};
  const auto add = [&](const Strategy& strategy) {
    if (is_valid(strategy, spec, target) &&
        std::find(found.begin(), found.end(), strategy) == found.end()) {
      found.push_back(strategy);
    }
  };
  const int widest = widest_vector(spec);
  for (const int vector : {widest, widest / 2}) {
    if (vector < size_of(spec.table_type)) continue;
    for (const int bag_lanes : {1, 2, 4, 8}) {
      for (const int rows : {2, 4, 8, 16}) {
        for (const int block : {64, 128, 256}) {
          for (const LaunchMode mode : {LaunchMode::plain, LaunchMode::dependent}) {
            Strategy strategy = found.front();
            strategy.vector_bytes = vector;
            spread_over_row(strategy, spec);
            if (bag_lanes > 1 || !spec.end.row_sum.empty()) round_lanes_up(strategy);
            strategy.bag_lanes = bag_lanes;
            strategy.rows_in_flight = rows_that_fit(spec, strategy, rows);
            strategy.block_threads = block;
            strategy.launch_mode = mode;
            add(strategy);
          }
        }
      }
    }
  }
  return found;
}

void validate(const Strategy& strategy, const ForwardSpec& raw, const Target& target) {
  const ForwardSpec spec = validated(raw);
  const int widest = widest_vector(spec);
  const auto element = static_cast<int>(size_of(spec.table_type));
  if (strategy.vector_bytes < element || widest % strategy.vector_bytes != 0) {
    refuse_value("vector_bytes", strategy.vector_bytes,
                 fmt::format("a power of two from {} to {} for this dim, row stride and alignment",
                             element, widest));
  }
  if (strategy.vectors_per_lane < 1 || strategy.vectors_per_lane > most_vectors) {
    refuse_value("vectors_per_lane", strategy.vectors_per_lane, "from 1 to 64");
  }
  if (strategy.bags_per_group < 1 || strategy.bags_per_group > 64) {
    refuse_value("bags_per_group", strategy.bags_per_group, "from 1 to 64");
  }
  if (strategy.rows_in_flight < 1 || strategy.rows_in_flight > 64) {
    refuse_value("rows_in_flight", strategy.rows_in_flight, "from 1 to 64");
  }
  if (strategy.lanes_per_row < 1 || strategy.lanes_per_row > warp_lanes) {
    refuse_value("lanes_per_row", strategy.lanes_per_row, "from 1 to 32");
  }
  if (strategy.bag_lanes < 1 || strategy.bag_lanes > 1024 || !is_power_of_two(strategy.bag_lanes)) {
    refuse_value("bag_lanes", strategy.bag_lanes, "a power of two from 1 to 1024");
  }
  if (strategy.bag_lanes > 1 && !is_power_of_two(strategy.lanes_per_row)) {
    refuse_value("lanes_per_row", strategy.lanes_per_row,
                 "a power of two where bag_lanes is over 1");
  }
  if (strategy.bag_lanes > 1 && spec.pooling.has(Pooling::none)) {
    refuse_value("bag_lanes", strategy.bag_lanes, "1 without pooling");
  }
  if (!spec.end.row_sum.empty()) {
    if (!is_power_of_two(strategy.lanes_per_row)) {
      refuse_value("lanes_per_row", strategy.lanes_per_row,
                   "a power of two for an end with a row_sum");
    }
    const std::int64_t covered =
        std::int64_t{strategy.lanes_per_row} * strategy.vectors_per_lane * strategy.vector_bytes;
    if (covered < row_bytes(spec)) {
      refuse_value(
          "lanes_per_row * vectors_per_lane * vector_bytes", covered,
          fmt::format("at least the {} bytes of a row, for an end with a row_sum; a row wider "
                      "than 2048 vectors can have none",
                      row_bytes(spec)));
    }
  }
  if (strategy.block_threads < warp_lanes || strategy.block_threads > 1024 ||
      strategy.block_threads % warp_lanes != 0) {
    refuse_value("block_threads", strategy.block_threads, "a multiple of 32 from 32 to 1024");
  }
  const int group = strategy.lanes_per_row * strategy.bag_lanes;
  if (group > strategy.block_threads ||
      (group > warp_lanes && strategy.block_threads % group != 0)) {
    refuse_value("block_threads", strategy.block_threads,
                 fmt::format("a multiple of lanes_per_row * bag_lanes = {}", group));
  }
  if (const int bytes = shared_bytes(strategy, spec); bytes > static_shared_limit) {
    refuse_value("shared memory for the reduction", bytes,
                 "49152 bytes at most; use smaller blocks");
  }
  if (strategy.launch_mode == LaunchMode::dependent && !target.has_dependent_launch()) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("The strategy's launch mode is dependent, which {} does not have; it needs "
                    "sm_90 or later. Use plain.",
                    to_text(target)));
  }
}

}  // namespace jitbag
