#include "bench/workload.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "bench/random_bits.hpp"
#include "jitbag/error.hpp"
#include "jitbag/host.hpp"

namespace jitbag::tools::bench {
namespace {

constexpr std::size_t pool_size = std::size_t{1} << 16;

template <typename Element, typename Convert>
void fill_from_pool(HostBuffer& table, std::uint64_t seed, Convert convert) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<Element> pool(pool_size);
  for (Element& value : pool) value = static_cast<Element>(convert(normal(generator)));
  std::byte* const target = table.data();
  const auto count = static_cast<std::int64_t>(table.size() / sizeof(Element));

  constexpr std::int64_t draws = 4;  // of 16 bits each, from one hash
  const std::int64_t groups = (count + draws - 1) / draws;
#pragma omp parallel for schedule(static)
  for (std::int64_t group = 0; group < groups; ++group) {
    std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(group));
    std::array<Element, draws> values{};
    for (Element& value : values) {
      value = pool[bits & (pool_size - 1)];
      bits >>= 16;
    }
    const std::int64_t first = group * draws;
    const auto wanted = static_cast<std::size_t>(std::min(draws, count - first));
    std::memcpy(target + static_cast<std::size_t>(first) * sizeof(Element), values.data(),
                wanted * sizeof(Element));
  }
}

template <typename Id>
void fill_ids(std::byte* target, std::int64_t count, std::int64_t vocab_size, double padding_prob,
              std::uint64_t stream) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto position = static_cast<std::uint64_t>(i) * 2;
    const double chance = static_cast<double>(random_bits(stream, position) >> 11) * 0x1p-53;
    const std::uint64_t draw =
        random_bits(stream, position + 1) % static_cast<std::uint64_t>(vocab_size);
    const auto id = static_cast<Id>(chance < padding_prob ? 0 : draw + 1);
    std::memcpy(target + static_cast<std::size_t>(i) * sizeof(Id), &id, sizeof(Id));
  }
}

template <typename Integer>
void write_integers(std::byte* target, const std::vector<std::int64_t>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = values[i];
    if (value < std::numeric_limits<Integer>::min() || value > std::numeric_limits<Integer>::max())
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("The number {} does not fit int32; give --id-type int64.", value));
    const auto narrow = static_cast<Integer>(value);
    std::memcpy(target + i * sizeof(Integer), &narrow, sizeof(Integer));
  }
}

/// Never 0: a mean by weights divides by them.
float between_0_and_1(std::uint64_t stream, std::int64_t position) {
  const auto bits = random_bits(stream, static_cast<std::uint64_t>(position)) >> 41;
  return (static_cast<float>(bits) + 0.5F) * 0x1p-23F;
}

template <typename Value>
void write(std::byte* target, Value value) {
  std::memcpy(target, &value, sizeof value);
}

void write_float(std::byte* target, DataType type, float value) {
  if (type == DataType::float32) write(target, value);
  if (type == DataType::float64) write(target, static_cast<double>(value));
  if (type == DataType::float16) write(target, host::float16_from(value));
  if (type == DataType::bfloat16) write(target, host::bfloat16_from(value));
}

/// Scales that bring the codes to around 1, and biases between -1 and 0.
void write_scales(HostTable& table, std::int64_t rows, const ForwardSpec& spec,
                  std::uint64_t seed) {
  const RowScale& scale = spec.row_scale;
  if (scale.place == RowScale::Place::nowhere) return;
  const std::int64_t bytes = size_of(scale.type);
  std::int64_t stride = row_stride_bytes(spec);
  if (scale.place == RowScale::Place::apart) {
    stride = scale.has_bias ? 2 * bytes : bytes;
    table.scales = HostBuffer(rows * stride);
  }
  std::byte* const first = scale.place == RowScale::Place::apart ? table.scales.data()
                                                                 : table.rows.data() + scale.offset;
  const float largest = spec.table_type == DataType::int8   ? 1.0F / 64
                        : spec.table_type == DataType::int4 ? 1.0F / 4
                                                            : 2.0F;
  const std::uint64_t scales = random_bits(seed, 1);
  const std::uint64_t biases = random_bits(seed, 2);
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    std::byte* const target = first + row * stride;
    write_float(target, scale.type, largest * between_0_and_1(scales, row));
    if (scale.has_bias) write_float(target + bytes, scale.type, -between_0_and_1(biases, row));
  }
}

/// First and last (exclusive) position of the ids that are in a bag.
std::pair<std::int64_t, std::int64_t> positions_read(const Workload& workload) {
  const auto* csr = std::get_if<CsrBags>(&workload.spec.bags);
  if (csr == nullptr || workload.batch == 0) return {0, workload.num_ids};
  const std::int64_t first = integer_at(workload.offsets, csr->offset_type, 0);
  if (csr->end == OffsetsEnd::implied) return {first, workload.num_ids};
  return {first, integer_at(workload.offsets, csr->offset_type, workload.batch)};
}

std::int64_t counted_rows(const Workload& workload, const HostBuffer& ids) {
  const auto [first, last] = positions_read(workload);
  std::int64_t counted = 0;
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t id = integer_at(ids, workload.spec.id_type, i);
    if (id >= 0 && id < workload.num_rows && id != workload.spec.padding_id) ++counted;
  }
  return counted;
}

}  // namespace

ForwardArguments Workload::arguments(std::size_t set, void* output) const {
  return {.table = table->rows.data(),
          .num_rows = num_rows,
          .ids = id_sets[set].data(),
          .num_ids = num_ids,
          .offsets = offsets.data(),
          .output = output,
          .batch = batch,
          .weights = weight_sets.empty() ? nullptr : weight_sets[set].data(),
          .scales = table->scales.data()};
}

std::size_t rotating_sets(std::int64_t steps, std::int64_t bytes_per_set) {
  constexpr std::int64_t most = 30;
  constexpr std::int64_t memory = std::int64_t{1} << 30;
  const std::int64_t fitting = memory / std::max<std::int64_t>(bytes_per_set, 1);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(std::min(steps, fitting), 1, most));
}

std::int64_t Workload::set_bytes() const {
  const std::int64_t id_bytes =
      size_of(spec.id_type) + (spec.weight_type ? size_of(*spec.weight_type) : 0);
  return num_ids * id_bytes + output_bytes();
}

std::pair<std::int64_t, std::int64_t> Workload::rows_written() const {
  if (spec.pooling.has(Pooling::none)) return positions_read(*this);
  return {0, batch};
}

std::int64_t Workload::longest_bag() const {
  const auto* csr = std::get_if<CsrBags>(&spec.bags);
  if (csr == nullptr) return std::get<FixedBags>(spec.bags).size;
  std::int64_t longest = 0;
  const std::int64_t end = positions_read(*this).second;
  for (std::int64_t bag = 0; bag < batch; ++bag) {
    const bool has_end = bag + 1 < batch || csr->end == OffsetsEnd::included;
    longest = std::max(longest, (has_end ? integer_at(offsets, csr->offset_type, bag + 1) : end) -
                                    integer_at(offsets, csr->offset_type, bag));
  }
  return longest;
}

HostTable random_table(std::int64_t rows, const ForwardSpec& spec, std::int64_t seed) {
  HostTable table;
  table.rows = HostBuffer(rows * row_stride_bytes(spec));
  const auto start = static_cast<std::uint64_t>(seed);
  switch (spec.table_type) {
    case DataType::float64:
      fill_from_pool<double>(table.rows, start, [](float value) { return value; });
      break;
    case DataType::float32:
      fill_from_pool<float>(table.rows, start, [](float value) { return value; });
      break;
    case DataType::float16:
      fill_from_pool<std::uint16_t>(table.rows, start, host::float16_from);
      break;
    case DataType::bfloat16:
      fill_from_pool<std::uint16_t>(table.rows, start, host::bfloat16_from);
      break;
    case DataType::int8:
    case DataType::int4:  // any byte will do
      fill_from_pool<std::uint8_t>(table.rows, start,
                                   [](float value) { return std::bit_cast<std::uint32_t>(value); });
      break;
    case DataType::float8_e4m3:
      fill_from_pool<std::uint8_t>(table.rows, start, host::float8_e4m3_from);
      break;
    case DataType::float8_e5m2:
      fill_from_pool<std::uint8_t>(table.rows, start, host::float8_e5m2_from);
      break;
  }
  if (is_quantised(spec.table_type)) write_scales(table, rows, spec, start);
  return table;
}

HostBuffer random_weights(std::int64_t count, DataType type, std::int64_t seed, std::size_t set) {
  HostBuffer weights(count * size_of(type));
  const std::uint64_t stream = random_bits(~static_cast<std::uint64_t>(seed), set);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i)
    write_float(weights.data() + i * size_of(type), type, between_0_and_1(stream, i));
  return weights;
}

HostBuffer random_ids(std::int64_t count, std::int64_t vocab_size, double padding_prob,
                      IntegerType type, std::int64_t seed, std::size_t set) {
  HostBuffer ids(count * size_of(type));
  const std::uint64_t stream = random_bits(static_cast<std::uint64_t>(seed), set);
  if (type == IntegerType::int32)
    fill_ids<std::int32_t>(ids.data(), count, vocab_size, padding_prob, stream);
  else
    fill_ids<std::int64_t>(ids.data(), count, vocab_size, padding_prob, stream);
  return ids;
}

HostBuffer integers(const std::vector<std::int64_t>& values, IntegerType type) {
  HostBuffer buffer(static_cast<std::int64_t>(values.size()) * size_of(type));
  if (type == IntegerType::int32)
    write_integers<std::int32_t>(buffer.data(), values);
  else
    write_integers<std::int64_t>(buffer.data(), values);
  return buffer;
}

std::int64_t integer_at(const HostBuffer& buffer, IntegerType type, std::int64_t index) {
  if (type == IntegerType::int32) {
    std::int32_t value = 0;
    std::memcpy(&value, buffer.data() + index * 4, sizeof value);
    return value;
  }
  std::int64_t value = 0;
  std::memcpy(&value, buffer.data() + index * 8, sizeof value);
  return value;
}

std::int64_t scale_bytes(const ForwardSpec& spec) {
  if (!is_quantised(spec.table_type) || spec.row_scale.place == RowScale::Place::nowhere) return 0;
  return size_of(spec.row_scale.type) * (spec.row_scale.has_bias ? 2 : 1);
}

double bytes_moved(const Workload& workload) {
  const auto& weight_type = workload.spec.weight_type;
  const std::int64_t weight = weight_type ? size_of(*weight_type) : 0;
  double rows = 0;
  for (const HostBuffer& ids : workload.id_sets)
    rows += static_cast<double>(counted_rows(workload, ids));
  rows /= static_cast<double>(workload.sets());
  const std::int64_t bytes_of_row = row_bytes(workload.spec) + scale_bytes(workload.spec) + weight;
  const std::size_t rest = workload.id_sets.front().size() + workload.offsets.size();
  return rows * static_cast<double>(bytes_of_row) + static_cast<double>(rest) +
         static_cast<double>(workload.output_bytes());
}

}  // namespace jitbag::tools::bench
