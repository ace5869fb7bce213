#include "bench/device_tables.hpp"

#include <algorithm>

#include "bench/workload.hpp"

namespace jitbag::tools::bench {
namespace {

// A buffer of no bytes has no address, and a kernel wants one.
device::Buffer allocated(std::int64_t bytes) {
  return device::Buffer(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16)));
}

void upload(void* target, const std::vector<std::int64_t>& values, IntegerType type) {
  const HostBuffer host = integers(values, type);
  if (host.size() > 0) device::copy_to_device(target, host.data(), host.size());
}

std::int64_t bytes_apart(const ForwardSpec& spec) {
  return spec.row_scale.place == RowScale::Place::apart ? scale_bytes(spec) : 0;
}

}  // namespace

DeviceTables::DeviceTables(const TableInputs& inputs, std::size_t sets, Engine& engine,
                           Stream stream)
    : inputs_(inputs) {
  const NumberWriter writer(engine, stream);
  for (std::size_t number = 0; number < inputs.tables.size(); ++number) add_table(number, writer);
  for (std::size_t number = 0; number < sets; ++number) add_set(number, writer);
  const std::vector<std::int64_t> offsets = inputs.joined_offsets();
  offsets_ = allocated(static_cast<std::int64_t>(offsets.size()) * size_of(IntegerType::int64));
  upload(offsets_.data(), offsets, IntegerType::int64);
}

void DeviceTables::add_table(std::size_t number, const NumberWriter& writer) {
  const TableInput& input = inputs_.tables[number];
  const ForwardSpec& spec = inputs_.spec.tables[number];
  Table table{allocated(input.num_rows * row_stride_bytes(spec)),
              allocated(input.num_rows * bytes_apart(spec))};
  writer.write_rows(input.rows, input.num_rows, table.rows.data(), table.scales.data());
  tables_.push_back(std::move(table));
}

void DeviceTables::add_set(std::size_t number, const NumberWriter& writer) {
  const std::int64_t id_bytes = size_of(inputs_.id_type());
  Set set{allocated(inputs_.num_ids * id_bytes), {}, allocated(inputs_.output_bytes())};
  for (std::size_t t = 0; t < inputs_.tables.size(); ++t) {
    const TableInput& table = inputs_.tables[t];
    void* const ids = static_cast<std::byte*>(set.ids.data()) + table.first_id * id_bytes;
    if (table.ids.empty())
      writer.write(inputs_.id_numbers(t), inputs_.id_stream(t, number), ids, table.num_ids,
                   id_bytes);
    else
      upload(ids, table.ids, inputs_.id_type());
  }
  if (const auto& type = inputs_.spec.tables.front().weight_type) {
    set.weights = allocated(inputs_.num_ids * size_of(*type));
    writer.write(weights_of(*type), inputs_.weight_stream(number), set.weights.data(),
                 inputs_.num_ids, size_of(*type));
  }
  sets_.push_back(std::move(set));
}

std::vector<ForwardArguments> DeviceTables::tables() const {
  std::vector<ForwardArguments> all;
  for (std::size_t t = 0; t < tables_.size(); ++t)
    all.push_back({.table = tables_[t].rows.data(),
                   .num_rows = inputs_.tables[t].num_rows,
                   .scales = tables_[t].scales.data()});
  return all;
}

JoinedArguments DeviceTables::joined(std::size_t set) const {
  return {.ids = sets_[set].ids.data(),
          .num_ids = inputs_.num_ids,
          .offsets = offsets_.data(),
          .weights = sets_[set].weights.data(),
          .output = sets_[set].output.data(),
          .batch = inputs_.batch};
}

void DeviceTables::poison(std::size_t set, Stream stream) const {
  constexpr std::uint8_t all_ones = 0xFF;
  device::fill_bytes(sets_[set].output.data(), all_ones,
                     static_cast<std::size_t>(inputs_.output_bytes()), stream);
}

}  // namespace jitbag::tools::bench
