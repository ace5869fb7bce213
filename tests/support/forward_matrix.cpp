#include "forward_matrix.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <random>
#include <set>
#include <variant>

namespace jitbag::test {
namespace {

constexpr std::array<std::int64_t, 15> dims{1,  2,  3,   5,   7,   8,    32,  33,
                                            36, 64, 100, 128, 514, 1023, 1025};
constexpr std::array<std::int64_t, 9> bag_sizes{0, 1, 2, 3, 4, 8, 31, 33, 200};
constexpr std::array csr_layouts{CsrBags{IntegerType::int32, OffsetsEnd::included},
                                 CsrBags{IntegerType::int32, OffsetsEnd::implied},
                                 CsrBags{IntegerType::int64, OffsetsEnd::included},
                                 CsrBags{IntegerType::int64, OffsetsEnd::implied}};
constexpr std::array data_types{DataType::float32, DataType::float16, DataType::bfloat16};
constexpr std::array id_types{IntegerType::int32, IntegerType::int64};
constexpr std::array<std::optional<std::int64_t>, 4> padding_ids{std::nullopt, 0, 3, -1};
constexpr std::array policies{BadIds::skip, BadIds::report, BadIds::trust};
constexpr std::array<std::int64_t, 4> alignments{16, 8, 4, 2};
constexpr std::array<std::int64_t, 3> strides_over_dim{0, 1, 8};
constexpr std::array addressings{Addressing::bits64, Addressing::bits32};
constexpr int shapes = static_cast<int>(StrategyShape::largest_group) + 1;

/// The axes of the matrix, and the number of values of each.
enum Axis {
  dim,
  bags,
  table,
  output,
  ids,
  padding,
  policy,
  alignment,
  stride,
  addressing,
  shape,
  axes
};
constexpr std::array<int, axes> sizes{static_cast<int>(dims.size()),
                                      static_cast<int>(bag_sizes.size() + csr_layouts.size()),
                                      static_cast<int>(data_types.size()),
                                      static_cast<int>(data_types.size()),
                                      static_cast<int>(id_types.size()),
                                      static_cast<int>(padding_ids.size()),
                                      static_cast<int>(policies.size()),
                                      static_cast<int>(alignments.size()),
                                      static_cast<int>(strides_over_dim.size()),
                                      static_cast<int>(addressings.size()),
                                      shapes};

/// One value of each axis.
using Choice = std::array<int, axes>;

/// The pairs of values that no choice has had yet.
class Pairs {
 public:
  Pairs() {
    for (int a = 0; a < axes; ++a) {
      for (int b = a + 1; b < axes; ++b) {
        for (int i = 0; i < sizes[a]; ++i) {
          for (int j = 0; j < sizes[b]; ++j) missing_.insert({a, i, b, j});
        }
      }
    }
  }

  [[nodiscard]] bool all_had() const { return missing_.empty(); }

  [[nodiscard]] int new_in(const Choice& choice) const {
    int found = 0;
    for_each_pair(choice, [&](const Pair& pair) { found += missing_.count(pair) != 0 ? 1 : 0; });
    return found;
  }

  void take(const Choice& choice) {
    for_each_pair(choice, [&](const Pair& pair) { missing_.erase(pair); });
  }

  /// Puts one missing pair into a choice.
  void put_one_into(Choice& choice) const {
    const auto [a, i, b, j] = *missing_.begin();
    choice[a] = i;
    choice[b] = j;
  }

 private:
  using Pair = std::array<int, 4>;

  template <class Action>
  static void for_each_pair(const Choice& choice, const Action& action) {
    for (int a = 0; a < axes; ++a) {
      for (int b = a + 1; b < axes; ++b) action(Pair{a, choice[a], b, choice[b]});
    }
  }

  std::set<Pair> missing_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int below(std::size_t limit) { return static_cast<int>(engine_() % limit); }
  std::uint64_t number() { return engine_(); }

  Choice choice() {
    Choice drawn{};
    for (int axis = 0; axis < axes; ++axis) drawn[axis] = below(sizes[axis]);
    return drawn;
  }

 private:
  std::mt19937_64 engine_;
};

/// Of some random choices that `fix` was applied to, the one with the most new pairs.
template <class Fix>
Choice best_of_random(const Pairs& pairs, Random& random, const Fix& fix) {
  constexpr int tries = 30;
  Choice best{};
  int most = -1;
  for (int i = 0; i < tries; ++i) {
    Choice drawn = random.choice();
    fix(drawn);
    const int found = pairs.new_in(drawn);
    if (found > most) {
      most = found;
      best = drawn;
    }
  }
  return best;
}

BagLayout layout(int number) {
  const int fixed = static_cast<int>(bag_sizes.size());
  if (number < fixed) return FixedBags{bag_sizes[number]};
  return csr_layouts[number - fixed];
}

MatrixKernel kernel_of(const Choice& choice, std::uint64_t seed) {
  ForwardSpec spec;
  spec.dim = dims[choice[dim]];
  spec.bags = layout(choice[bags]);
  spec.table_type = data_types[choice[table]];
  spec.output_type = data_types[choice[output]];
  spec.id_type = id_types[choice[ids]];
  spec.padding_id = padding_ids[choice[padding]];
  spec.bad_ids = policies[choice[policy]];
  spec.row_stride = spec.dim + strides_over_dim[choice[stride]];
  spec.addressing = addressings[choice[addressing]];
  spec.alignment = std::max(alignments[choice[alignment]], size_of(spec.table_type));
  return {validated(spec), static_cast<StrategyShape>(choice[shape]), seed};
}

int vectors_per_row(const ForwardSpec& spec, const Strategy& strategy) {
  return static_cast<int>(spec.dim * size_of(spec.table_type) / strategy.vector_bytes);
}

int power_of_two_up_to(int limit, int value) {
  return std::min(limit, static_cast<int>(std::bit_ceil(static_cast<unsigned>(value))));
}

void set_group(Strategy& strategy, int lanes, int bag_lanes, int vectors, int block) {
  strategy.lanes_per_row = lanes;
  strategy.bag_lanes = bag_lanes;
  strategy.vectors_per_lane = vectors;
  strategy.block_threads = block;
}

void give_shape(Strategy& strategy, const MatrixKernel& kernel) {
  const int vectors = vectors_per_row(kernel.spec, strategy);
  switch (kernel.shape) {
    case StrategyShape::rule:
    case StrategyShape::rule_for_one_bag:
    case StrategyShape::candidate:
      return;
    case StrategyShape::one_lane:
      return set_group(strategy, 1, 1, 8, 32);
    case StrategyShape::three_lanes:
      return set_group(strategy, 3, 1, 1, 128);
    case StrategyShape::seven_lanes:
      return set_group(strategy, 7, 1, 3, 96);
    case StrategyShape::narrow:
      strategy.vector_bytes = static_cast<int>(size_of(kernel.spec.table_type));
      return set_group(strategy, 32, 1, 2, 256);
    case StrategyShape::two_bag_lanes:
      return set_group(strategy, power_of_two_up_to(16, vectors), 2, 1, 64);
    case StrategyShape::eight_bag_lanes:
      return set_group(strategy, power_of_two_up_to(4, vectors), 8, 2, 96);
    case StrategyShape::warp_over_bag:
      return set_group(strategy, 1, 32, 4, 128);
    case StrategyShape::two_warps_a_group:
      return set_group(strategy, 16, 4, 1, 128);
    case StrategyShape::block_a_group:
      return set_group(strategy, 32, 8, 2, 256);
    case StrategyShape::largest_group: {
      const int lanes = power_of_two_up_to(32, vectors);
      return set_group(strategy, lanes, 1024 / lanes, 1, 1024);
    }
  }
}

}  // namespace

std::vector<MatrixKernel> forward_matrix(std::uint64_t seed) {
  Pairs pairs;
  Random random(seed);
  std::vector<MatrixKernel> kernels;
  const auto add = [&](const Choice& choice) {
    pairs.take(choice);
    kernels.push_back(kernel_of(choice, random.number()));
  };
  for (int i = 0; i < sizes[dim]; ++i) {
    for (int j = 0; j < sizes[bags]; ++j) {
      add(best_of_random(pairs, random, [&](Choice& choice) {
        choice[dim] = i;
        choice[bags] = j;
      }));
    }
  }
  while (!pairs.all_had()) {
    add(best_of_random(pairs, random, [&](Choice& choice) { pairs.put_one_into(choice); }));
  }
  return kernels;
}

std::int64_t misalignment(const ForwardSpec& spec, std::int64_t element_bytes) {
  return spec.alignment < 16 ? std::max<std::int64_t>(1, spec.alignment / element_bytes) : 0;
}

Strategy strategy_for(const MatrixKernel& kernel, const Target& target) {
  if (kernel.shape == StrategyShape::candidate) {
    const auto candidates = candidate_strategies(kernel.spec, target);
    return candidates[kernel.seed % candidates.size()];
  }
  const std::optional<std::int64_t> batch = kernel.shape == StrategyShape::rule_for_one_bag
                                                ? std::optional<std::int64_t>(1)
                                                : std::nullopt;
  Strategy strategy = default_strategy(kernel.spec, target, batch);
  if (kernel.shape == StrategyShape::rule || batch) return strategy;
  constexpr std::array rows_in_flight{1, 2, 3, 4, 8, 16};
  strategy.rows_in_flight = rows_in_flight[kernel.seed % rows_in_flight.size()];
  give_shape(strategy, kernel);
  return strategy;
}

std::vector<ForwardCaseOptions> launches_of(const MatrixKernel& kernel,
                                            std::int64_t largest_batch) {
  Random random(kernel.seed);
  std::vector<ForwardCaseOptions> launches;
  for (const std::int64_t batch : {0, 1, 3, 1023}) {
    constexpr std::array<std::int64_t, 4> rows{1, 5, 40, 300};
    constexpr std::array<std::int64_t, 3> longest{1, 8, 40};
    ForwardCaseOptions options;
    options.spec = kernel.spec;
    options.batch = std::min(batch, largest_batch);
    options.num_rows = rows[random.below(rows.size())];
    options.longest_bag = longest[random.below(longest.size())];
    options.table_misalignment = misalignment(kernel.spec, size_of(kernel.spec.table_type));
    options.ids_misalignment = misalignment(kernel.spec, size_of(kernel.spec.id_type));
    options.poison_after = random.below(2) == 0;
    options.broken_offsets = kernel.spec.bad_ids != BadIds::trust && random.below(3) == 0;
    const bool can_be_empty = kernel.spec.bad_ids != BadIds::trust || kernel.spec.padding_id;
    if (can_be_empty && random.below(8) == 0) options.num_rows = 0;
    if (random.below(8) == 0) options.mix.padding = 1;  // bags of nothing else
    options.seed = random.number();
    launches.push_back(options);
  }
  return launches;
}

std::int64_t longest_bag(const MatrixKernel& kernel) {
  const auto* fixed = std::get_if<FixedBags>(&kernel.spec.bags);
  return fixed ? fixed->size : 40;
}

std::string describe(const MatrixKernel& kernel, const Target& target) {
  return fmt::format("{} | {} | {}", to_text(kernel.spec), to_text(strategy_for(kernel, target)),
                     to_text(target));
}

}  // namespace jitbag::test
