#include "forward_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <variant>

#include "jitbag/host.hpp"

namespace jitbag::test {
namespace {

constexpr std::size_t guard_bytes = 256;

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// 0 to below - 1.
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(limit));
  }
  /// 0 to 1, without 1.
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }

 private:
  std::mt19937_64 engine_;
};

PlacedArray place(std::size_t bytes, std::size_t misalignment, bool poison_after) {
  PlacedArray array;
  array.buffer.resize(guard_bytes + misalignment + bytes + (poison_after ? guard_bytes : 0));
  array.begin = guard_bytes + misalignment;
  return array;
}

void store_integer(std::byte* to, IntegerType type, std::int64_t value) {
  if (type == IntegerType::int64) {
    std::memcpy(to, &value, sizeof value);
  } else {
    const auto narrow = static_cast<std::int32_t>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  }
}

std::int64_t largest(IntegerType type) {
  return type == IntegerType::int64 ? std::numeric_limits<std::int64_t>::max() / 2
                                    : std::numeric_limits<std::int32_t>::max();
}

/// Integers with very large ones around them.
PlacedArray place_integers(const std::vector<std::int64_t>& values, IntegerType type,
                           std::int64_t misalignment, bool poison_after) {
  const auto size = static_cast<std::size_t>(size_of(type));
  PlacedArray array =
      place(values.size() * size, static_cast<std::size_t>(misalignment) * size, poison_after);
  for (std::size_t at = 0; at + size <= array.buffer.size(); at += size) {
    store_integer(array.buffer.data() + at, type, largest(type));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_integer(array.buffer.data() + array.begin + i * size, type, values[i]);
  }
  return array;
}

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
    if (!earlier.empty() && random_.chance(mix_.duplicates)) {
      return earlier[random_.below(static_cast<std::int64_t>(earlier.size()))];
    }
    if (num_rows_ > 0) return random_.below(num_rows_);
    if (spec_.padding_id) return *spec_.padding_id;
    return bad_id();
  }

  std::int64_t bad_id() {
    if (bad_ids_.empty()) throw std::invalid_argument("a table without rows has no trusted ids");
    return bad_ids_[random_.below(static_cast<std::int64_t>(bad_ids_.size()))];
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
    if (random.chance(0.2)) offset = wrong[random.below(wrong.size())];
  }
}

/// The ids of a batch, and where each bag is among them.
struct Layout {
  struct Range {
    std::int64_t begin, end;
  };
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> offsets;
  std::vector<Range> bags;
};

void append(std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

Layout fixed_layout(const ForwardCaseOptions& options, const FixedBags& bags, IdSource& source) {
  Layout layout;
  for (std::int64_t bag = 0; bag < options.batch; ++bag) {
    append(layout.ids, source.bag(bags.size));
    layout.bags.push_back({bag * bags.size, (bag + 1) * bags.size});
  }
  return layout;
}

Layout csr_layout(const ForwardCaseOptions& options, const CsrBags& csr, IdSource& source,
                  Random& random) {
  constexpr std::int64_t before_the_first = 3;
  constexpr std::int64_t after_the_last = 2;
  const std::int64_t outside = largest(options.spec.id_type);
  Layout layout;
  layout.ids.assign(before_the_first, outside);
  for (std::int64_t bag = 0; bag < options.batch; ++bag) {
    layout.offsets.push_back(static_cast<std::int64_t>(layout.ids.size()));
    append(layout.ids, source.bag(random_bag_size(options, bag, random)));
  }
  if (csr.end == OffsetsEnd::included) {
    layout.offsets.push_back(static_cast<std::int64_t>(layout.ids.size()));
    layout.ids.insert(layout.ids.end(), after_the_last, outside);
  }

  const auto num_ids = static_cast<std::int64_t>(layout.ids.size());
  if (options.broken_offsets) break_offsets(layout.offsets, num_ids, random);
  std::vector<std::int64_t> bounds = layout.offsets;
  if (csr.end == OffsetsEnd::implied) bounds.push_back(num_ids);
  for (std::int64_t& bound : bounds) bound = std::clamp(bound, std::int64_t{0}, num_ids);
  for (std::int64_t bag = 0; bag < options.batch; ++bag) {
    layout.bags.push_back({bounds[bag], std::max(bounds[bag], bounds[bag + 1])});
  }
  return layout;
}

void store_element(std::byte* to, DataType type, float value) {
  if (type == DataType::float32) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const std::uint16_t bits =
      type == DataType::float16 ? host::float16_from(value) : host::bfloat16_from(value);
  std::memcpy(to, &bits, sizeof bits);
}

double load_element(const std::byte* from, DataType type) {
  if (type == DataType::float32) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return static_cast<double>(type == DataType::float16 ? host::float_from_float16(bits)
                                                       : host::float_from_bfloat16(bits));
}

/// Rows that are read hold numbers, everything else poison.
PlacedArray make_table(const ForwardCaseOptions& options, const ForwardSpec& spec,
                       const std::vector<bool>& row_is_read, Random& random) {
  const std::int64_t element = size_of(spec.table_type);
  const std::int64_t elements =
      options.num_rows == 0 ? 0 : (options.num_rows - 1) * spec.row_stride + spec.dim;
  PlacedArray table =
      place(static_cast<std::size_t>(elements * element),
            static_cast<std::size_t>(options.table_misalignment * element), options.poison_after);
  poison(table.buffer);
  std::byte* const first = table.buffer.data() + table.begin;
  for (std::int64_t row = 0; row < options.num_rows; ++row) {
    if (!row_is_read[row]) continue;
    for (std::int64_t column = 0; column < spec.dim; ++column) {
      const auto value = static_cast<float>(4 * random.unit() - 2);
      store_element(first + (row * spec.row_stride + column) * element, spec.table_type, value);
    }
  }
  return table;
}

std::string describe(const ForwardCaseOptions& options, const ForwardSpec& spec) {
  return fmt::format(
      "{} | batch={} rows={} longest_bag={} off_by={},{} broken_offsets={} poison_after={} seed={}",
      to_text(spec), options.batch, options.num_rows, options.longest_bag,
      options.table_misalignment, options.ids_misalignment, options.broken_offsets,
      options.poison_after, options.seed);
}

/// Half the distance between two neighbours of the type near a value.
double half_ulp(DataType type, double value) {
  struct Format {
    int mantissa_bits, least_exponent;
  };
  const Format format = type == DataType::float32   ? Format{23, -126}
                        : type == DataType::float16 ? Format{10, -14}
                                                    : Format{7, -126};
  const int exponent = value == 0 ? format.least_exponent : std::ilogb(value);
  return std::ldexp(0.5, std::max(exponent, format.least_exponent) - format.mantissa_bits);
}

/// How far a right result may be from the exact mean.
double tolerance(DataType output, double expected, double magnitude, std::int64_t bag_size) {
  const double summation = static_cast<double>(bag_size) * 0x1p-24 * magnitude;
  const double reciprocal = 4 * half_ulp(DataType::float32, expected);
  const double before_rounding = summation + reciprocal;
  return before_rounding + half_ulp(output, std::abs(expected) + before_rounding);
}

bool agree(double actual, double expected, double allowed) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <= allowed;
}

}  // namespace

ForwardArguments ForwardCase::host_arguments(void* output) const {
  ForwardArguments arguments;
  arguments.table = table.data();
  arguments.num_rows = num_rows;
  arguments.ids = ids.data();
  arguments.num_ids = num_ids;
  arguments.offsets = offsets.buffer.empty() ? nullptr : offsets.data();
  arguments.output = output;
  arguments.batch = batch;
  return arguments;
}

std::size_t ForwardCase::output_bytes() const {
  return static_cast<std::size_t>(batch * spec.dim * size_of(spec.output_type));
}

ForwardCase make_forward_case(const ForwardCaseOptions& options) {
  Random random(options.seed);
  IdSource source(options, random);
  ForwardCase result;
  result.spec = validated(options.spec);
  result.batch = options.batch;
  result.num_rows = options.num_rows;
  result.description = describe(options, result.spec);

  const auto* csr = std::get_if<CsrBags>(&options.spec.bags);
  const Layout layout = csr != nullptr
                            ? csr_layout(options, *csr, source, random)
                            : fixed_layout(options, std::get<FixedBags>(options.spec.bags), source);
  std::vector<bool> row_is_read(static_cast<std::size_t>(options.num_rows));
  for (const auto& [begin, end] : layout.bags) {
    result.bag_sizes.push_back(end - begin);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t id = layout.ids[i];
      if (id == options.spec.padding_id) continue;
      if (id >= 0 && id < options.num_rows) {
        row_is_read[id] = true;
      } else {
        result.has_bad_id = true;
      }
    }
  }

  result.ids = place_integers(layout.ids, options.spec.id_type, options.ids_misalignment,
                              options.poison_after);
  if (csr != nullptr) {
    result.num_ids = static_cast<std::int64_t>(layout.ids.size());
    result.offsets = place_integers(layout.offsets, csr->offset_type, 0, options.poison_after);
  }
  result.table = make_table(options, result.spec, row_is_read, random);
  return result;
}

void poison(std::span<std::byte> bytes) {
  std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
}

std::string check_output(const ForwardCase& forward_case, std::span<const std::byte> output) {
  if (output.size() != forward_case.output_bytes()) {
    return fmt::format("The output has {} bytes instead of {}.", output.size(),
                       forward_case.output_bytes());
  }
  const ForwardSpec& spec = forward_case.spec;
  const auto elements = static_cast<std::size_t>(forward_case.batch * spec.dim);
  std::vector<double> expected(elements);
  std::vector<double> magnitudes(elements);
  host::oracle(spec, forward_case.host_arguments(nullptr), expected.data(), magnitudes.data());

  for (std::size_t i = 0; i < elements; ++i) {
    const auto bag = static_cast<std::int64_t>(i) / spec.dim;
    const auto column = static_cast<std::int64_t>(i) % spec.dim;
    const double actual =
        load_element(output.data() + i * size_of(spec.output_type), spec.output_type);
    const double allowed =
        tolerance(spec.output_type, expected[i], magnitudes[i], forward_case.bag_sizes[bag]);
    if (agree(actual, expected[i], allowed)) continue;
    return fmt::format("Bag {} column {} is {} instead of {} +- {} ({} ids; {}).", bag, column,
                       actual, expected[i], allowed, forward_case.bag_sizes[bag],
                       forward_case.description);
  }
  return {};
}

}  // namespace jitbag::test
