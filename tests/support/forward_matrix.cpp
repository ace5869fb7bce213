#include "forward_matrix.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

#include "fused_ends.hpp"
#include "jitbag/error.hpp"
#include "random.hpp"

namespace jitbag::test {
namespace {

constexpr std::array<std::int64_t, 15> dims{1,  2,  3,   5,   7,   8,    32,  33,
                                            36, 64, 100, 128, 514, 1023, 1025};
constexpr std::array<std::int64_t, 9> bag_sizes{0, 1, 2, 3, 4, 8, 31, 33, 200};
constexpr std::array csr_layouts{CsrBags{IntegerType::int32, OffsetsEnd::included},
                                 CsrBags{IntegerType::int32, OffsetsEnd::implied},
                                 CsrBags{IntegerType::int64, OffsetsEnd::included},
                                 CsrBags{IntegerType::int64, OffsetsEnd::implied}};
constexpr std::array output_types{DataType::float32, DataType::float16, DataType::bfloat16,
                                  DataType::float64};
constexpr std::array<std::optional<DataType>, 5> weight_types{
    std::nullopt, DataType::float32, DataType::float16, DataType::bfloat16, DataType::float64};
constexpr std::array id_types{IntegerType::int32, IntegerType::int64};
constexpr std::array<std::optional<std::int64_t>, 4> padding_ids{std::nullopt, 0, 3, -1};
constexpr std::array policies{BadIds::skip, BadIds::report, BadIds::trust};
constexpr std::array<std::int64_t, 5> alignments{16, 8, 4, 2, 1};
constexpr std::array<std::int64_t, 4> strides_over_row{0, 1, 8, 16};
constexpr std::array<std::int64_t, 3> output_gaps{0, 3, 16};
constexpr std::array addressings{Addressing::bits64, Addressing::bits32};
constexpr std::array places_of_counts{Counts::at_launch, Counts::on_device};
constexpr int shapes = static_cast<int>(StrategyShape::bags_and_bag_lanes) + 1;

/// Of ids and of the output; 0 is the rule, 1 the least that there is.
struct OwnAlignments {
  std::int64_t ids, output;
};
constexpr std::array<OwnAlignments, 3> own_alignments{{{0, 0}, {1, 16}, {16, 1}}};

/// Rows of a type, laid out in a way of their own.
struct RowKind {
  DataType type;
  RowScale (*scale)(std::int64_t dim);
};

template <RowScale::Place place, DataType type, bool has_bias, std::int64_t codes_offset>
RowScale scale_at_front(std::int64_t) {
  return {place, type, has_bias, 0, codes_offset};
}

RowScale float_rows(std::int64_t) {
  return {};
}

RowScale inference_row(std::int64_t) {
  return fbgemm::inference_row();
}

constexpr auto apart = RowScale::Place::apart;
constexpr auto in_row = RowScale::Place::in_row;
constexpr auto nowhere = RowScale::Place::nowhere;
constexpr auto wide = DataType::float32;
constexpr auto narrow = DataType::float16;

constexpr std::array<RowKind, 16> row_kinds{{
    {DataType::float32, float_rows},
    {DataType::float16, float_rows},
    {DataType::bfloat16, float_rows},
    {DataType::float64, float_rows},
    {DataType::int8, inference_row},
    {DataType::int8, fbgemm::fused_8bit_row},
    {DataType::int8, scale_at_front<apart, wide, true, 0>},
    {DataType::int8, scale_at_front<apart, narrow, false, 3>},
    {DataType::int8, scale_at_front<nowhere, wide, false, 0>},
    {DataType::int4, inference_row},
    {DataType::int4, fbgemm::fused_4bit_row},
    {DataType::int4, scale_at_front<apart, wide, false, 0>},
    {DataType::float8_e4m3, scale_at_front<nowhere, wide, false, 0>},
    {DataType::float8_e4m3, scale_at_front<apart, wide, false, 0>},
    {DataType::float8_e5m2, scale_at_front<in_row, narrow, true, 16>},
    {DataType::float8_e5m2, scale_at_front<apart, narrow, true, 0>},
}};

/// Poolings side by side, and whether the winners are written.
struct PoolingKind {
  Poolings poolings;
  bool winners = false;
};

const std::vector<PoolingKind>& pooling_kinds() {
  using enum Pooling;
  static const std::vector<PoolingKind> kinds{
      {sum},
      {mean},
      {mean_by_weights},
      {mean_by_length},
      {mean_by_sqrt},
      {max},
      {max, true},
      {none},
      {{sum, max}},
      {{max, mean, mean_by_sqrt}, true},
      {{sum, mean, mean_by_weights, mean_by_length, mean_by_sqrt, max}},
  };
  return kinds;
}

/// The axes of the matrix, and the number of values of each.
enum Axis {
  dim,
  bags,
  rows,
  pooling,
  weights,
  output,
  ids,
  padding,
  policy,
  alignment,
  own_alignment,
  stride,
  output_gap,
  addressing,
  counts,
  end,
  shape,
  axes
};

template <class Values>
int count_of(const Values& values) {
  return static_cast<int>(std::size(values));
}

const std::array<int, axes>& sizes() {
  static const std::array<int, axes> numbers{count_of(dims),
                                             count_of(bag_sizes) + count_of(csr_layouts),
                                             count_of(row_kinds),
                                             count_of(pooling_kinds()),
                                             count_of(weight_types),
                                             count_of(output_types),
                                             count_of(id_types),
                                             count_of(padding_ids),
                                             count_of(policies),
                                             count_of(alignments),
                                             count_of(own_alignments),
                                             count_of(strides_over_row),
                                             count_of(output_gaps),
                                             count_of(addressings),
                                             count_of(places_of_counts),
                                             count_of(known_ends()) + 1,
                                             shapes};
  return numbers;
}

/// Weights belong to sums and means; a mean by weights cannot do without.
bool stand_together(const PoolingKind& kind, bool has_weights) {
  if (kind.poolings.has(Pooling::mean_by_weights)) return has_weights;
  const bool has_use = std::any_of(kind.poolings.begin(), kind.poolings.end(), [](Pooling one) {
    return one != Pooling::max && one != Pooling::none;
  });
  return has_use || !has_weights;
}

/// The end that is not there, and the known ones.
FusedEnd end_of(int number) {
  return number == 0 ? FusedEnd{} : known_ends()[number - 1];
}

/// A row that is summed must fit into a group, whatever its vectors.
bool stand_together(std::int64_t columns, const FusedEnd& fused_end) {
  return fused_end.row_sum.empty() || columns <= 256;
}

/// One value of each axis.
using Choice = std::array<int, axes>;

bool is_legal(const Choice& choice) {
  return stand_together(pooling_kinds()[choice[pooling]],
                        weight_types[choice[weights]].has_value()) &&
         stand_together(dims[choice[dim]], end_of(choice[end]));
}

/// The pairs of values that no choice has had yet and a legal one can have.
class Pairs {
 public:
  Pairs() {
    std::partial_sum(sizes().begin(), sizes().end(), first_value_.begin() + 1);
    missing_.resize(static_cast<std::size_t>(values() * values()));
    for_each_pair_of_axes([&](int a, int b) {
      for (int i = 0; i < sizes()[a]; ++i) {
        for (int j = 0; j < sizes()[b]; ++j) {
          missing_[place(a, i, b, j)] = is_possible(a, i, b, j) ? 1 : 0;
        }
      }
    });
  }

  [[nodiscard]] bool all_had() const { return first_missing() == missing_.end(); }

  [[nodiscard]] int new_in(const Choice& choice) const {
    int found = 0;
    for_each_pair_of_axes(
        [&](int a, int b) { found += missing_[place(a, choice[a], b, choice[b])]; });
    return found;
  }

  void take(const Choice& choice) {
    for_each_pair_of_axes([&](int a, int b) { missing_[place(a, choice[a], b, choice[b])] = 0; });
  }

  /// Puts one missing pair into a choice.
  void put_one_into(Choice& choice) const {
    const auto where = static_cast<int>(first_missing() - missing_.begin());
    put(where / values(), choice);
    put(where % values(), choice);
  }

 private:
  static bool is_possible(int a, int i, int b, int j) {
    if (a == pooling && b == weights) {
      return stand_together(pooling_kinds()[i], weight_types[j].has_value());
    }
    if (a == dim && b == end) return stand_together(dims[i], end_of(j));
    return true;
  }

  template <class Action>
  static void for_each_pair_of_axes(const Action& action) {
    for (int a = 0; a < axes; ++a) {
      for (int b = a + 1; b < axes; ++b) action(a, b);
    }
  }

  [[nodiscard]] int values() const { return first_value_[axes]; }

  [[nodiscard]] std::size_t place(int a, int i, int b, int j) const {
    return static_cast<std::size_t>((first_value_[a] + i) * values() + first_value_[b] + j);
  }

  [[nodiscard]] std::vector<char>::const_iterator first_missing() const {
    return std::find(missing_.begin(), missing_.end(), 1);
  }

  /// Puts the value with this number, among those of all axes, into a choice.
  void put(int value, Choice& choice) const {
    const int axis =
        static_cast<int>(std::upper_bound(first_value_.begin(), first_value_.end(), value) -
                         first_value_.begin() - 1);
    choice[axis] = value - first_value_[axis];
  }

  /// Of each axis, the number of its first value among those of all axes; and how many there are.
  std::array<int, axes + 1> first_value_{};
  /// 1 where the pair is missing, [values, values]. Asked millions of times: a set of pairs takes a
  /// third of the time of whole tests under the sanitizers.
  std::vector<char> missing_;
};

/// A legal choice, random but for what `fix` sets, which must be possible.
template <class Fix>
Choice random_choice(Random& random, const Fix& fix) {
  Choice drawn{};
  do {
    for (int axis = 0; axis < axes; ++axis) {
      drawn[axis] = static_cast<int>(random.below(sizes()[axis]));
    }
    fix(drawn);
  } while (!is_legal(drawn));
  return drawn;
}

/// Of some random choices the one with the most new pairs.
template <class Fix>
Choice best_of_random(const Pairs& pairs, Random& random, const Fix& fix) {
  constexpr int tries = 200;
  Choice best{};
  int most = -1;
  for (int i = 0; i < tries; ++i) {
    const Choice drawn = random_choice(random, fix);
    const int found = pairs.new_in(drawn);
    if (found > most) {
      most = found;
      best = drawn;
    }
  }
  return best;
}

BagLayout layout(int number) {
  const int fixed = count_of(bag_sizes);
  if (number < fixed) return FixedBags{bag_sizes[number]};
  return csr_layouts[number - fixed];
}

/// 0 where the rule decides.
std::int64_t own(std::int64_t asked, std::int64_t element_bytes) {
  return asked == 0 ? 0 : std::max(asked, element_bytes);
}

MatrixKernel kernel_of(const Choice& choice, std::uint64_t seed) {
  ForwardSpec spec;
  spec.dim = dims[choice[dim]];
  spec.bags = layout(choice[bags]);
  spec.table_type = row_kinds[choice[rows]].type;
  spec.row_scale = row_kinds[choice[rows]].scale(spec.dim);
  spec.pooling = pooling_kinds()[choice[pooling]].poolings;
  spec.winners = pooling_kinds()[choice[pooling]].winners;
  spec.mean_length = spec.pooling.has(Pooling::mean_by_length) ? 7 : 0;
  spec.weight_type = weight_types[choice[weights]];
  spec.output_type = output_types[choice[output]];
  spec.id_type = id_types[choice[ids]];
  spec.padding_id = padding_ids[choice[padding]];
  spec.bad_ids = policies[choice[policy]];
  spec.addressing = addressings[choice[addressing]];
  spec.counts = places_of_counts[choice[counts]];
  spec.end = end_of(choice[end]);
  spec.alignment = std::max(alignments[choice[alignment]], size_of(spec.table_type));
  spec.id_alignment = own(own_alignments[choice[own_alignment]].ids, size_of(spec.id_type));
  spec.output_alignment =
      own(own_alignments[choice[own_alignment]].output, size_of(spec.output_type));
  spec.row_stride = validated(spec).row_stride + strides_over_row[choice[stride]];
  spec.output_stride = output_width(spec) + output_gaps[choice[output_gap]];
  return {validated(spec), static_cast<StrategyShape>(choice[shape]), seed};
}

int vectors_per_row(const ForwardSpec& spec, const Strategy& strategy) {
  return static_cast<int>(row_bytes(spec) / strategy.vector_bytes);
}

int power_of_two_up_to(int limit, int value) {
  return std::min(limit,
                  static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(1, value)))));
}

void set_group(Strategy& strategy, int lanes, int bag_lanes, int vectors, int block) {
  strategy.lanes_per_row = lanes;
  strategy.bag_lanes = bag_lanes;
  strategy.vectors_per_lane = vectors;
  strategy.block_threads = block;
}

void give_shape(Strategy& strategy, const MatrixKernel& kernel) {
  const int vectors = vectors_per_row(kernel.spec, strategy);
  strategy.bags_per_group = 1;
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
    case StrategyShape::two_bags_a_group:
      strategy.bags_per_group = 2;
      return set_group(strategy, power_of_two_up_to(8, vectors), 1, 1, 64);
    case StrategyShape::five_bags_a_group:
      strategy.bags_per_group = 5;
      return set_group(strategy, 5, 1, 2, 64);
    case StrategyShape::bags_and_bag_lanes:
      strategy.bags_per_group = 3;
      return set_group(strategy, power_of_two_up_to(8, vectors), 2, 1, 128);
  }
}

bool is_valid(const Strategy& strategy, const ForwardSpec& spec, const Target& target) {
  try {
    validate(strategy, spec, target);
    return true;
  } catch (const Error&) {
    return false;
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
  for (int i = 0; i < sizes()[dim]; ++i) {
    for (int j = 0; j < sizes()[bags]; ++j) {
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

std::int64_t misalignment(std::int64_t alignment, std::int64_t element_bytes) {
  return alignment < 16 ? std::max<std::int64_t>(1, alignment / element_bytes) : 0;
}

Strategy strategy_for(const MatrixKernel& kernel, const Target& target) {
  if (kernel.shape == StrategyShape::candidate) {
    const auto candidates = candidate_strategies(kernel.spec, target);
    return candidates[kernel.seed % candidates.size()];
  }
  const std::optional<std::int64_t> batch = kernel.shape == StrategyShape::rule_for_one_bag
                                                ? std::optional<std::int64_t>(1)
                                                : std::nullopt;
  const Strategy rule = default_strategy(kernel.spec, target, batch);
  if (kernel.shape == StrategyShape::rule || batch) return rule;
  Strategy strategy = rule;
  constexpr std::array rows_in_flight{1, 2, 3, 4, 8, 16};
  strategy.rows_in_flight = rows_in_flight[kernel.seed % rows_in_flight.size()];
  give_shape(strategy, kernel);
  return is_valid(strategy, kernel.spec, target) ? strategy : rule;
}

std::vector<ForwardCaseOptions> launches_of(const MatrixKernel& kernel,
                                            std::int64_t largest_batch) {
  Random random(kernel.seed);
  std::vector<ForwardCaseOptions> launches;
  for (const std::int64_t batch : {0, 1, 3, 1023}) {
    constexpr std::array<std::int64_t, 4> rows{1, 5, 40, 300};
    constexpr std::array<std::int64_t, 3> longest{1, 8, 40};
    const ForwardSpec& spec = kernel.spec;
    ForwardCaseOptions options;
    options.spec = spec;
    options.batch = std::min(batch, largest_batch);
    options.num_rows = random.one_of(rows);
    options.longest_bag = random.one_of(longest);
    options.table_misalignment = misalignment(spec.alignment, size_of(spec.table_type));
    options.ids_misalignment = misalignment(spec.id_alignment, size_of(spec.id_type));
    options.poison_after = random.chance(0.5);
    // Which bag holds an id is not defined where offsets are broken and rows are kept.
    const bool needs_bags = spec.pooling.has(Pooling::none) && spec.bad_ids == BadIds::report;
    options.broken_offsets = spec.bad_ids != BadIds::trust && !needs_bags && random.chance(1.0 / 3);
    const bool can_be_empty = spec.bad_ids != BadIds::trust || spec.padding_id;
    if (can_be_empty && random.chance(0.125)) options.num_rows = 0;
    if (random.chance(0.125)) options.mix.padding = 1;  // bags of nothing else
    if (spec.end.empty() && random.chance(0.2)) options.special = 0.01;
    if (spec.counts == Counts::on_device && random.chance(0.7)) options.spare_bags = 5;
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
