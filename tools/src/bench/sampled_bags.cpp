#include "bench/sampled_bags.hpp"

#include <algorithm>
#include <cstring>

#include "jitbag/host.hpp"

namespace jitbag::tools::bench {

SampledBags::SampledBags(const TableInputs& inputs, std::size_t table, std::int64_t count)
    : spec_(inputs.spec.tables[table]), parts_(inputs.tables[table].rows) {
  const std::int64_t sampled = std::min(count, inputs.batch);
  for (std::int64_t i = 0; i < sampled; ++i) {
    const auto last = sampled > 1 ? (inputs.batch - 1) * i / (sampled - 1) : 0;
    add_bag(inputs, table, last);
  }
}

void SampledBags::add_bag(const TableInputs& inputs, std::size_t table, std::int64_t bag) {
  const TableInput& input = inputs.tables[table];
  for (std::int64_t position = input.bag_begin(bag); position < input.bag_end(bag); ++position) {
    const std::int64_t row = inputs.id_at(table, 0, position);
    const bool counts = row >= 0 && row < input.num_rows && row != spec_.padding_id;
    ids_.push_back(counts ? static_cast<std::int64_t>(rows_.size()) : -1);
    if (counts) rows_.push_back(row);
    if (spec_.weight_type)
      weights_.push_back(number_at(weights_of(*spec_.weight_type), inputs.weight_stream(0),
                                   input.first_id + position));
  }
  bags_.push_back(bag);
  longest_ = std::max(longest_, input.bag_end(bag) - input.bag_begin(bag));
  offsets_.push_back(static_cast<std::int64_t>(ids_.size()));
}

std::vector<double> SampledBags::expected() const {
  ForwardSpec spec = spec_;
  spec.bags = CsrBags{};
  spec.id_type = IntegerType::int64;
  spec.padding_id.reset();
  spec.bad_ids = BadIds::skip;
  const auto num_rows = static_cast<std::int64_t>(rows_.size());
  const HostBuffer table(num_rows * row_stride_bytes(spec));
  const HostBuffer scales(num_rows * scale_bytes(spec));
  for (std::int64_t place = 0; place < num_rows; ++place)
    write_row(parts_, rows_[static_cast<std::size_t>(place)], place, table.data(), scales.data());
  const std::int64_t weight_bytes = spec.weight_type ? size_of(*spec.weight_type) : 0;
  const HostBuffer weights(static_cast<std::int64_t>(weights_.size()) * weight_bytes);
  for (std::size_t i = 0; i < weights_.size(); ++i)
    std::memcpy(weights.data() + static_cast<std::int64_t>(i) * weight_bytes, &weights_[i],
                static_cast<std::size_t>(weight_bytes));
  const auto bags = static_cast<std::int64_t>(bags_.size());
  std::vector<double> expected(static_cast<std::size_t>(bags * output_width(spec)));
  host::oracle(spec,
               {.table = table.data(),
                .num_rows = num_rows,
                .ids = ids_.data(),
                .num_ids = static_cast<std::int64_t>(ids_.size()),
                .offsets = offsets_.data(),
                .output = expected.data(),
                .batch = bags,
                .weights = weights.data(),
                .scales = scales.data()},
               expected.data());
  return expected;
}

}  // namespace jitbag::tools::bench
