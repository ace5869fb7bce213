#include "forward_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <variant>

#include "bags.hpp"
#include "elements.hpp"
#include "random.hpp"
#include "table_rows.hpp"

namespace jitbag::test {
namespace {

/// Draws ids after the mix.
class IdSource {
 public:
  IdSource(const ForwardCaseOptions& options, Random& random)
      : random_(random), mix_(options.mix), num_rows_(options.num_rows), spec_(options.spec) {
    if (spec_.bad_ids == BadIds::trust) {
      mix_.bad = 0;
    } else {
      bad_ids_ = {-1, num_rows_};
      if (spec_.id_type == IntegerType::int64) {
        // Cut to 32 bits, this one would be row 5.
        bad_ids_.insert(bad_ids_.end(), {(std::int64_t{1} << 32) + 5, (std::int64_t{1} << 31) + 5,
                                         std::numeric_limits<std::int64_t>::min()});
      } else {
        bad_ids_.push_back(std::numeric_limits<std::int32_t>::min());
      }
    }
  }

  std::vector<std::int64_t> bag(std::int64_t size) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < size; ++i) ids.push_back(next(ids));
    return ids;
  }

 private:
  std::int64_t next(const std::vector<std::int64_t>& earlier) {
    if (spec_.padding_id && random_.chance(mix_.padding)) return *spec_.padding_id;
    if (random_.chance(mix_.bad)) return bad_id();
    if (!earlier.empty() && random_.chance(mix_.duplicates)) return random_.one_of(earlier);
    if (num_rows_ > 0) return random_.below(num_rows_);
    if (spec_.padding_id) return *spec_.padding_id;
    return bad_id();
  }

  std::int64_t bad_id() {
    if (bad_ids_.empty()) throw std::invalid_argument("a table without rows has no trusted ids");
    return random_.one_of(bad_ids_);
  }

  Random& random_;
  IdMix mix_;
  std::int64_t num_rows_;
  ForwardSpec spec_;
  std::vector<std::int64_t> bad_ids_;
};

std::int64_t random_bag_size(const ForwardCaseOptions& options, std::int64_t bag, Random& random) {
  const std::int64_t batch = options.batch;
  const bool at_an_end = batch >= 3 && (bag == 0 || bag == batch - 1);
  const bool in_the_middle = batch >= 5 && (bag == batch / 2 || bag == batch / 2 - 1);
  if (at_an_end || in_the_middle) return 0;
  return random.below(options.longest_bag + 1);
}

void break_offsets(std::vector<std::int64_t>& offsets, std::int64_t num_ids, Random& random) {
  const std::array<std::int64_t, 4> wrong{-5, num_ids + 7, 0, num_ids};
  for (std::int64_t& offset : offsets) {
    if (random.chance(0.2)) offset = random.one_of(wrong);
  }
}

void append(std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

GivenBags fixed_layout(const ForwardCaseOptions& options, const FixedBags& bags, IdSource& source) {
  GivenBags layout;
  for (std::int64_t bag = 0; bag < options.batch; ++bag) {
    append(layout.ids, source.bag(bags.size));
  }
  return layout;
}

GivenBags csr_layout(const ForwardCaseOptions& options, const CsrBags& csr, IdSource& source,
                     Random& random) {
  constexpr std::int64_t before_the_first = 3;
  constexpr std::int64_t after_the_last = 2;
  const std::int64_t outside = far_outside(options.spec.id_type);
  GivenBags layout;
  if (options.ids_outside_bags) layout.ids.assign(before_the_first, outside);
  for (std::int64_t bag = 0; bag < options.batch; ++bag) {
    layout.offsets.push_back(static_cast<std::int64_t>(layout.ids.size()));
    append(layout.ids, source.bag(random_bag_size(options, bag, random)));
  }
  if (csr.end == OffsetsEnd::included) {
    layout.offsets.push_back(static_cast<std::int64_t>(layout.ids.size()));
    if (options.ids_outside_bags) {
      layout.ids.insert(layout.ids.end(), after_the_last, outside);
    }
  }
  if (options.broken_offsets) {
    break_offsets(layout.offsets, static_cast<std::int64_t>(layout.ids.size()), random);
  }
  return layout;
}

/// What the device says there is: the truth, or numbers that mean the same.
std::vector<std::int64_t> device_counts(const ForwardCaseOptions& options, const GivenBags& layout,
                                        Random& random) {
  std::int64_t batch = options.batch;
  auto num_ids = static_cast<std::int64_t>(layout.ids.size());
  if (batch == 0 && random.chance(0.5)) batch = -5;
  if (options.spare_bags == 0 && random.chance(0.5)) {
    batch += batch < 0 ? 0 : 7;
    num_ids += 11;
  }
  return {batch, num_ids};
}

/// Room in the arrays for more bags and ids than there are.
void add_spare(GivenBags& layout, const ForwardCaseOptions& options) {
  const auto* fixed = std::get_if<FixedBags>(&options.spec.bags);
  const std::int64_t ids = options.spare_bags * (fixed ? fixed->size : 3);
  layout.ids.insert(layout.ids.end(), static_cast<std::size_t>(ids),
                    far_outside(options.spec.id_type));
  if (const auto* csr = std::get_if<CsrBags>(&options.spec.bags)) {
    layout.offsets.insert(layout.offsets.end(), static_cast<std::size_t>(options.spare_bags),
                          far_outside(csr->offset_type));
  }
}

/// Positions whose ids are read and counted.
std::vector<std::int64_t> counted_positions(const Bags& bags, const ForwardSpec& spec) {
  std::vector<bool> is_read(static_cast<std::size_t>(std::max<std::int64_t>(0, bags.num_ids())));
  const auto read = [&](Positions positions) {
    for (std::int64_t i = positions.begin; i < positions.end; ++i) is_read[i] = true;
  };
  if (spec.pooling.has(Pooling::none)) {
    read(bags.all());
  } else {
    for (std::int64_t bag = 0; bag < bags.batch(); ++bag) read(bags.bag(bag));
  }
  std::vector<std::int64_t> counted;
  for (std::size_t i = 0; i < is_read.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    if (is_read[i] && bags.is_counted(position)) counted.push_back(position);
  }
  return counted;
}

/// Rows that are read hold numbers, everything else poison.
void fill_table(ForwardCase& made, const ForwardCaseOptions& options,
                const std::vector<bool>& row_is_read, Random& random) {
  const std::int64_t stride = row_stride_bytes(made.spec);
  const std::int64_t row_size = packed_row_bytes(made.spec);
  const std::int64_t scale_size =
      made.spec.row_scale.place == RowScale::Place::apart ? scale_bytes(made.spec) : 0;
  const std::int64_t bytes = made.num_rows == 0 ? 0 : (made.num_rows - 1) * stride + row_size;
  PlacedArray& table = made.input(Input::table);
  PlacedArray& scales = made.input(Input::scales);
  table = PlacedArray(
      static_cast<std::size_t>(bytes),
      static_cast<std::size_t>(options.table_misalignment * size_of(made.spec.table_type)),
      options.poison_after);
  if (scale_size > 0) {
    scales = PlacedArray(static_cast<std::size_t>(made.num_rows * scale_size),
                         static_cast<std::size_t>(scale_size), options.poison_after);
  }
  std::optional<std::int64_t> earlier;
  for (std::int64_t row = 0; row < made.num_rows; ++row) {
    if (!row_is_read[row]) continue;
    std::byte* const to = table.data() + row * stride;
    std::byte* const scale = scale_size > 0 ? scales.data() + row * scale_size : nullptr;
    if (earlier && random.chance(0.1)) {
      std::memcpy(to, table.data() + *earlier * stride, static_cast<std::size_t>(row_size));
      if (scale != nullptr) {
        std::memcpy(scale, scales.data() + *earlier * scale_size,
                    static_cast<std::size_t>(scale_size));
      }
    } else {
      write_random_row(made.spec, to, scale, options.special, random);
    }
    earlier = row;
  }
}

/// From -1 to 2; greater than 0 where they are a divisor, so that it stays away from 0.
PlacedArray random_weights(const ForwardSpec& spec, const GivenBags& layout,
                           const std::vector<std::int64_t>& counted, bool poison_after,
                           Random& random) {
  const double least = spec.pooling.has(Pooling::mean_by_weights) ? 0.25 : -1;
  std::vector<double> weights(layout.ids.size(), std::numeric_limits<double>::quiet_NaN());
  for (const std::int64_t position : counted) weights[position] = random.between(least, 2);
  return place_elements(weights, *spec.weight_type, 1, poison_after);
}

PlacedArray random_parameters(const ForwardSpec& spec, bool poison_after, Random& random) {
  std::vector<double> parameters(static_cast<std::size_t>(spec.dim));
  for (double& parameter : parameters) parameter = random.between(-2, 2);
  return place_elements(parameters, DataType::float32, 1, poison_after);
}

std::string describe(const ForwardCaseOptions& options, const ForwardSpec& spec) {
  return fmt::format(
      "{} | batch={} rows={} longest_bag={} off_by={},{} broken_offsets={} poison_after={} "
      "special={} spare={} seed={}",
      to_text(spec), options.batch, options.num_rows, options.longest_bag,
      options.table_misalignment, options.ids_misalignment, options.broken_offsets,
      options.poison_after, options.special, options.spare_bags, options.seed);
}

/// A case with these bags, and with tables and weights for what they read.
ForwardCase case_of(const ForwardCaseOptions& options, const GivenBags& layout, Random& random,
                    const std::vector<std::int64_t>& counts = {}) {
  ForwardCase made;
  made.spec = validated(options.spec);
  made.batch = options.batch;
  made.num_rows = options.num_rows;
  made.description = describe(options, made.spec);
  if (!counts.empty()) {
    made.input(Input::counts) = place_integers(counts, IntegerType::int64, 1, true);
    made.batch += options.spare_bags;
  }
  made.input(Input::ids) = place_integers(layout.ids, options.spec.id_type,
                                          options.ids_misalignment, options.poison_after);
  if (const auto* csr = std::get_if<CsrBags>(&options.spec.bags)) {
    made.num_ids = static_cast<std::int64_t>(layout.ids.size());
    made.input(Input::offsets) =
        place_integers(layout.offsets, csr->offset_type, 1, options.poison_after);
  }

  const Bags bags(made.spec, made.host_arguments());
  const std::vector<std::int64_t> counted = counted_positions(bags, made.spec);
  std::vector<bool> row_is_read(static_cast<std::size_t>(options.num_rows));
  for (const std::int64_t position : counted) row_is_read[bags.id(position)] = true;
  fill_table(made, options, row_is_read, random);
  if (made.spec.weight_type) {
    made.input(Input::weights) =
        random_weights(made.spec, layout, counted, options.poison_after, random);
  }
  if (!made.spec.end.empty()) {
    made.input(Input::end_parameters) = random_parameters(made.spec, options.poison_after, random);
  }
  return made;
}

}  // namespace

ForwardArguments ForwardCase::arguments(const std::function<const void*(Input)>& address) const {
  ForwardArguments arguments;
  arguments.table = address(Input::table);
  arguments.num_rows = num_rows;
  arguments.ids = address(Input::ids);
  arguments.num_ids = num_ids;
  arguments.offsets = address(Input::offsets);
  arguments.batch = batch;
  arguments.weights = address(Input::weights);
  arguments.scales = address(Input::scales);
  arguments.counts = static_cast<const std::int64_t*>(address(Input::counts));
  arguments.end_parameters = static_cast<const float*>(address(Input::end_parameters));
  return arguments;
}

ForwardArguments ForwardCase::host_arguments() const {
  return arguments([this](Input which) { return input(which).data(); });
}

std::size_t ForwardCase::output_bytes() const {
  return test::output_bytes(spec, host_arguments());
}

std::size_t ForwardCase::winners_bytes() const {
  return spec.winners ? static_cast<std::size_t>(batch * spec.dim * size_of(spec.id_type)) : 0;
}

ForwardCase make_forward_case(const ForwardCaseOptions& options) {
  Random random(options.seed);
  IdSource source(options, random);
  const auto* csr = std::get_if<CsrBags>(&options.spec.bags);
  GivenBags layout = csr != nullptr
                         ? csr_layout(options, *csr, source, random)
                         : fixed_layout(options, std::get<FixedBags>(options.spec.bags), source);
  if (options.spec.counts == Counts::at_launch) return case_of(options, layout, random);
  const auto counts = device_counts(options, layout, random);
  add_spare(layout, options);
  return case_of(options, layout, random, counts);
}

ForwardCase make_forward_case(const ForwardCaseOptions& options, const GivenBags& given) {
  Random random(options.seed);
  return case_of(options, given, random);
}

std::size_t output_bytes(const ForwardSpec& validated_spec, const ForwardArguments& arguments) {
  const std::int64_t rows = output_rows(validated_spec, arguments);
  if (rows == 0) return 0;
  return static_cast<std::size_t>(
      ((rows - 1) * validated_spec.output_stride + output_width(validated_spec)) *
      size_of(validated_spec.output_type));
}

}  // namespace jitbag::test
