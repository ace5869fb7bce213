#include "host_case.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "jitbag/host.hpp"

namespace jitbag::test {
namespace {

const auto float_types = {DataType::float32, DataType::float16, DataType::bfloat16,
                          DataType::float64};

BagLayout random_layout(Dice& dice) {
  if (dice.chance(2)) return FixedBags{dice.pick<std::int64_t>({0, 1, 2, 3, 4, 8, 33, 300})};
  return CsrBags{dice.pick({IntegerType::int32, IntegerType::int64}),
                 dice.pick({OffsetsEnd::included, OffsetsEnd::implied})};
}

Poolings random_poolings(bool weighted, Dice& dice) {
  const Pooling mean = weighted ? Pooling::mean_by_weights : Pooling::mean;
  if (!weighted && dice.chance(4)) return Pooling::none;
  if (!weighted && dice.chance(4)) return Pooling::max;
  return dice.pick<Poolings>({Pooling::sum,
                              Pooling::mean,
                              mean,
                              Pooling::mean_by_length,
                              Pooling::mean_by_sqrt,
                              {Pooling::max, Pooling::sum},
                              {mean, Pooling::max, Pooling::mean_by_sqrt, Pooling::sum}});
}

RowScale random_row_scale(DataType type, std::int64_t dim, Dice& dice) {
  using Place = RowScale::Place;
  if (type == DataType::int8 && dice.chance(3)) return fbgemm::fused_8bit_row(dim);
  if (type == DataType::int4 && dice.chance(3)) return fbgemm::fused_4bit_row(dim);
  RowScale scale = fbgemm::inference_row();
  if (dice.chance(3)) return scale;
  scale.place = dice.pick({Place::nowhere, Place::apart, Place::in_row});
  scale.type = dice.pick({DataType::float32, DataType::float16});
  scale.has_bias = dice.chance(2);
  scale.offset = dice.pick<std::int64_t>({0, 1});  // 1: nothing is aligned
  scale.codes_offset = scale.offset + 8;
  return scale;
}

constexpr std::byte poison{0xff};

template <class Stored>
void put(Stored value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

template <class Stored>
Stored get(const std::byte* from) {
  Stored value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::vector<std::byte> stored_integers(const std::vector<std::int64_t>& values, IntegerType type) {
  const std::int64_t size = size_of(type);
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* const to = bytes.data() + i * static_cast<std::size_t>(size);
    if (type == IntegerType::int64) {
      put(values[i], to);
    } else {
      put(static_cast<std::int32_t>(values[i]), to);
    }
  }
  return bytes;
}

std::int64_t random_id(const HostCase& given, Dice& dice) {
  if (given.spec.padding_id && dice.chance(4)) return *given.spec.padding_id;
  const bool trusted = given.spec.bad_ids == BadIds::trust;
  if (given.num_rows > 0 && (trusted || !dice.chance(12))) return dice.below(given.num_rows);
  return dice.pick<std::int64_t>({-1, given.num_rows, -77, 1'000'000'000});
}

void draw_csr(HostCase& given, Dice& dice) {
  const auto& csr = std::get<CsrBags>(given.spec.bags);
  std::int64_t end = 3;
  for (std::int64_t bag = 0; bag <= given.batch; ++bag) {
    given.offsets.push_back(end);
    if (bag < given.batch && !dice.chance(4)) end += dice.below(40);
  }
  const std::int64_t num_ids = end + (csr.end == OffsetsEnd::included ? 2 : 0);
  if (csr.end == OffsetsEnd::implied) given.offsets.pop_back();
  if (given.spec.bad_ids != BadIds::trust && dice.chance(3)) {
    for (std::int64_t& offset : given.offsets) {
      if (dice.chance(4)) offset = dice.pick<std::int64_t>({-5, 0, num_ids, num_ids + 9});
    }
  }
  for (std::int64_t i = 0; i < num_ids; ++i) given.ids.push_back(random_id(given, dice));
}

void draw_table(HostCase& given, Dice& dice) {
  const ForwardSpec& spec = given.spec;
  const std::int64_t stride = row_stride_bytes(spec);
  given.table_begin = spec.alignment < 16 ? static_cast<std::size_t>(spec.alignment) : 0;
  given.table.assign(given.table_begin + static_cast<std::size_t>(given.num_rows * stride), poison);
  const std::int64_t part = size_of(spec.row_scale.type);
  const std::int64_t parts = spec.row_scale.has_bias ? 2 : 1;
  given.scales.assign(static_cast<std::size_t>(given.num_rows * part * parts), poison);
  for (std::int64_t row = 0; row < given.num_rows; ++row) {
    std::byte* const begin = given.table.data() + given.table_begin + row * stride;
    if (!is_quantised(spec.table_type)) {
      for (std::int64_t column = 0; column < spec.dim; ++column) {
        const double value = static_cast<double>(dice.below(4001)) / 1000 - 2;
        store_number(value, spec.table_type, begin + column * size_of(spec.table_type));
      }
      continue;
    }
    const bool is_float8 = bits_of(spec.table_type) == 8 && spec.table_type != DataType::int8;
    for (std::int64_t i = 0; i < row_bytes(spec); ++i) {
      // Of a float8 no large ones, which would hide the others in a sum.
      const auto code = static_cast<std::byte>(dice.below(256));
      begin[spec.row_scale.codes_offset + i] = is_float8 ? code & std::byte{0xbf} : code;
    }
    if (spec.row_scale.place == RowScale::Place::nowhere) continue;
    std::byte* const scale = spec.row_scale.place == RowScale::Place::in_row
                                 ? begin + spec.row_scale.offset
                                 : given.scales.data() + row * part * parts;
    store_number(dice.pick({0.125, 0.25, 0.5}), spec.row_scale.type, scale);
    if (parts == 2) store_number(dice.pick({-3.5, -1.0, 0.25}), spec.row_scale.type, scale + part);
  }
}

bool is_counted(const HostCase& given, std::int64_t id) {
  return id != given.spec.padding_id && id >= 0 && id < given.num_rows;
}

void draw_weights(HostCase& given, Dice& dice) {
  if (!given.spec.weight_type) return;
  const std::int64_t size = size_of(*given.spec.weight_type);
  given.weights.assign(given.ids.size() * static_cast<std::size_t>(size), poison);
  for (std::size_t i = 0; i < given.ids.size(); ++i) {
    if (!is_counted(given, given.ids[i])) continue;
    const double weight = static_cast<double>(1 + dice.below(16)) / 8;
    store_number(weight, *given.spec.weight_type,
                 given.weights.data() + i * static_cast<std::size_t>(size));
  }
}

std::string bad_id_text(std::int64_t id, std::int64_t position, std::int64_t bag,
                        std::int64_t num_rows) {
  return fmt::format(
      "bad_id: id {} at position {} of bag {} is outside the table's {} rows; correct the ids, or "
      "set bad_ids to skip.",
      id, position, bag, num_rows);
}

}  // namespace

ForwardSpec random_spec(std::int64_t dim, Dice& dice) {
  ForwardSpec spec;
  spec.dim = dim;
  spec.bags = random_layout(dice);
  if (dice.chance(3)) spec.weight_type = dice.pick(float_types);
  spec.pooling = random_poolings(spec.weight_type.has_value(), dice);
  if (spec.pooling.has(Pooling::mean_by_length)) spec.mean_length = 7;
  spec.winners = spec.pooling.has(Pooling::max) && dice.chance(2);
  spec.table_type =
      dice.pick({DataType::float32, DataType::float16, DataType::bfloat16, DataType::float64,
                 DataType::int8, DataType::int4, DataType::float8_e4m3, DataType::float8_e5m2});
  spec.row_scale = random_row_scale(spec.table_type, dim, dice);
  spec.output_type = dice.pick(float_types);
  spec.id_type = dice.pick({IntegerType::int32, IntegerType::int64});
  if (dice.chance(2)) spec.padding_id = dice.pick<std::int64_t>({0, -1, 50});
  spec.bad_ids = dice.pick({BadIds::skip, BadIds::report, BadIds::trust});
  if (dice.chance(2)) spec.alignment = size_of(spec.table_type);
  if (dice.chance(2)) spec.addressing = Addressing::bits32;
  if (dice.chance(3)) spec.counts = Counts::on_device;
  if (dice.chance(3)) spec.row_stride = validated(spec).row_stride + 5;
  if (dice.chance(3)) spec.output_stride = output_width(spec) + 3;
  return spec;
}

Precision precision(DataType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (type) {
    case DataType::float64:
      return {0x1p-53, 0, infinity};
    case DataType::float16:
      return {0x1p-11, 0x1p-24, 65504};
    case DataType::bfloat16:
      return {0x1p-8, 0x1p-133, infinity};
    default:
      return {0x1p-24, 0x1p-149, infinity};
  }
}

void store_number(double value, DataType type, std::byte* to) {
  switch (type) {
    case DataType::float64:
      return put(value, to);
    case DataType::float16:
      return put(host::float16_from(static_cast<float>(value)), to);
    case DataType::bfloat16:
      return put(host::bfloat16_from(static_cast<float>(value)), to);
    default:
      return put(static_cast<float>(value), to);
  }
}

double load_number(const std::byte* from, DataType type) {
  switch (type) {
    case DataType::float64:
      return get<double>(from);
    case DataType::float16:
      return static_cast<double>(host::float_from_float16(get<std::uint16_t>(from)));
    case DataType::bfloat16:
      return static_cast<double>(host::float_from_bfloat16(get<std::uint16_t>(from)));
    default:
      return static_cast<double>(get<float>(from));
  }
}

ForwardArguments HostCase::arguments() const {
  ForwardArguments arguments;
  arguments.table = table.data() + table_begin;
  arguments.num_rows = num_rows;
  arguments.ids = stored_ids.data();
  arguments.num_ids = static_cast<std::int64_t>(ids.size());
  arguments.offsets = stored_offsets.data();
  arguments.batch = batch;
  arguments.weights = weights.data();
  arguments.scales = scales.data();
  arguments.counts = counts.data();
  return arguments;
}

HostCase make_host_case(const ForwardSpec& spec, Dice& dice) {
  HostCase given;
  given.spec = validated(spec);
  given.batch = dice.pick<std::int64_t>({0, 1, 3, 20});
  const bool trusted = spec.bad_ids == BadIds::trust;
  given.num_rows = dice.pick<std::int64_t>({trusted ? 1 : 0, 1, 2, 50});
  if (const auto* fixed = std::get_if<FixedBags>(&spec.bags)) {
    for (std::int64_t i = 0; i < given.batch * fixed->size; ++i) {
      given.ids.push_back(random_id(given, dice));
    }
  } else {
    draw_csr(given, dice);
    given.stored_offsets = stored_integers(given.offsets, std::get<CsrBags>(spec.bags).offset_type);
  }
  given.stored_ids = stored_integers(given.ids, spec.id_type);
  const auto num_ids = static_cast<std::int64_t>(given.ids.size());
  // Under BadIds::trust fewer ids than the offsets say would be the caller's mistake.
  given.counts = {dice.pick<std::int64_t>({-1, given.batch / 2, given.batch, given.batch + 3}),
                  trusted ? num_ids : dice.pick<std::int64_t>({num_ids / 2, num_ids, num_ids + 3})};
  draw_table(given, dice);
  draw_weights(given, dice);
  return given;
}

std::string expected_report(const HostCase& given) {
  const bool counted = given.spec.counts == Counts::on_device;
  const std::int64_t batch =
      counted ? std::clamp<std::int64_t>(given.counts[0], 0, given.batch) : given.batch;
  auto num_ids = static_cast<std::int64_t>(given.ids.size());
  const auto* fixed = std::get_if<FixedBags>(&given.spec.bags);
  if (counted && fixed == nullptr) num_ids = std::clamp<std::int64_t>(given.counts[1], 0, num_ids);
  const auto bound = [&](std::int64_t b) {
    if (fixed != nullptr) return b * fixed->size;
    const bool is_end = b == batch && std::get<CsrBags>(given.spec.bags).end == OffsetsEnd::implied;
    return is_end ? num_ids : given.offsets[static_cast<std::size_t>(b)];
  };
  const auto kept = [&](std::int64_t b) {
    return std::clamp<std::int64_t>(bound(b), 0, fixed != nullptr ? bound(batch) : num_ids);
  };
  const auto is_bad = [&](std::int64_t position) {
    const std::int64_t id = given.ids[static_cast<std::size_t>(position)];
    return id != given.spec.padding_id && !is_counted(given, id);
  };
  const auto id_report = [&](std::int64_t bag, std::int64_t position) {
    return bad_id_text(given.ids[static_cast<std::size_t>(position)], position - kept(bag), bag,
                       given.num_rows);
  };
  if (given.spec.pooling.has(Pooling::none)) {
    for (std::int64_t i = batch == 0 ? 0 : kept(0); batch > 0 && i < kept(batch); ++i) {
      if (!is_bad(i)) continue;
      std::int64_t bag = 0;
      for (std::int64_t after = batch; after - bag > 1;) {
        const std::int64_t middle = (bag + after) / 2;
        (kept(middle) <= i ? bag : after) = middle;
      }
      return id_report(bag, i);
    }
    return "nothing";
  }
  for (std::int64_t bag = 0; bag < batch; ++bag) {
    const std::int64_t begin = bound(bag), end = bound(bag + 1);
    if (begin < 0 || end < begin || (fixed == nullptr && end > num_ids)) {
      return fmt::format(
          "bad_offset: the offsets say that bag {} begins at id {} and ends before id {}, but "
          "there are {} ids and no bag ends before it begins; correct the offsets, or set bad_ids "
          "to skip.",
          bag, begin, end, num_ids);
    }
    for (std::int64_t i = begin; i < end; ++i) {
      if (is_bad(i)) return id_report(bag, i);
    }
  }
  return "nothing";
}

}  // namespace jitbag::test
