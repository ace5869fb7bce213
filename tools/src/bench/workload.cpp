#include "bench/workload.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>

#include "jitbag/error.hpp"
#include "jitbag/host.hpp"

namespace jitbag::tools::bench {
namespace {

constexpr std::size_t pool_size = std::size_t{1} << 16;

/// A counter-based generator (the finaliser of SplitMix64): every thread can start anywhere.
std::uint64_t random_bits(std::uint64_t stream, std::uint64_t position) {
  std::uint64_t x = stream + (position + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

template <typename Element, typename Convert>
void fill_from_pool(std::byte* target, std::int64_t count, std::uint64_t seed, Convert convert) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<Element> pool(pool_size);
  for (Element& value : pool) value = convert(normal(generator));

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
  return {.table = table->data(),
          .num_rows = num_rows,
          .ids = id_sets[set].data(),
          .num_ids = num_ids,
          .offsets = offsets.data(),
          .output = output,
          .batch = batch};
}

std::size_t rotating_sets(std::int64_t steps, std::int64_t bytes_per_set) {
  constexpr std::int64_t most = 30;
  constexpr std::int64_t memory = std::int64_t{1} << 30;
  const std::int64_t fitting = memory / std::max<std::int64_t>(bytes_per_set, 1);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(std::min(steps, fitting), 1, most));
}

HostBuffer random_table(std::int64_t rows, std::int64_t dim, DataType type, std::int64_t seed) {
  const std::int64_t count = rows * dim;
  HostBuffer table(count * size_of(type));
  const auto start = static_cast<std::uint64_t>(seed);
  switch (type) {
    case DataType::float32:
      fill_from_pool<float>(table.data(), count, start, [](float value) { return value; });
      break;
    case DataType::float16:
      fill_from_pool<std::uint16_t>(table.data(), count, start, host::float16_from);
      break;
    case DataType::bfloat16:
      fill_from_pool<std::uint16_t>(table.data(), count, start, host::bfloat16_from);
      break;
  }
  return table;
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

double bytes_moved(const Workload& workload) {
  double rows = 0;
  for (const HostBuffer& ids : workload.id_sets)
    rows += static_cast<double>(counted_rows(workload, ids));
  rows /= static_cast<double>(workload.sets());
  const std::int64_t row_bytes = workload.spec.dim * size_of(workload.spec.table_type);
  const std::size_t rest = workload.id_sets.front().size() + workload.offsets.size();
  return rows * static_cast<double>(row_bytes) + static_cast<double>(rest) +
         static_cast<double>(workload.output_bytes());
}

}  // namespace jitbag::tools::bench
