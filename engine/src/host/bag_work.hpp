#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "host/bags.hpp"
#include "host/id_rule.hpp"
#include "host/pooled_bag.hpp"
#include "host/row_block.hpp"
#include "host/rows.hpp"
#include "spec/arguments.hpp"

namespace jitbag::host {

/// One call of the backend: what every thread reads. Its units are the bags, or without pooling the
/// ids, each of which has a row of the output.
template <class Number>
class BagWork {
 public:
  /// Of a validated spec, which must live as long.
  BagWork(const ForwardSpec& spec, const ForwardArguments& arguments)
      : spec_(&spec),
        arguments_(&arguments),
        output_row_bytes_(spec.output_stride * size_of(spec.output_type)),
        pools_(!spec.pooling.has(Pooling::none)),
        rule_(spec, arguments.num_rows),
        ids_(arguments.ids, spec.id_type),
        weights_(arguments.weights, spec.weight_type.value_or(DataType::float32)),
        bags_(spec, arguments),
        units_(pools_ ? BagRange{0, bags_.batch()} : bags_.all()) {}

  [[nodiscard]] BagRange units() const { return units_; }

  /// Computes one and writes its output; true when there is something to report.
  [[nodiscard]] bool compute(std::int64_t unit, PooledBag<Number>& bag) const {
    bag.clear();
    bool met_bad_id = false;
    const BagRange range = ids_of(unit);
    for (std::int64_t begin = range.begin; begin < range.end; begin += RowBlock<Number>::most) {
      const std::int64_t end = std::min(begin + RowBlock<Number>::most, range.end);
      met_bad_id |= add({begin, end}, bag);
    }
    bag.write(static_cast<std::byte*>(arguments_->output) + unit * output_row_bytes_);
    if (spec_->winners) bag.write_winners(arguments_->winners, unit * spec_->dim);
    return spec_->bad_ids == BadIds::report && (met_bad_id || has_bad_place(unit));
  }

  /// Whether one has an offset or an id that is bad.
  [[nodiscard]] bool has_bad_input(std::int64_t unit) const {
    if (has_bad_place(unit)) return true;
    const BagRange range = ids_of(unit);
    for (std::int64_t position = range.begin; position < range.end; ++position) {
      if (rule_.is_bad(ids_[position])) return true;
    }
    return false;
  }

  /// What there is to report of a unit that has bad input.
  [[nodiscard]] BadInput bad_input(std::int64_t unit) const {
    if (has_bad_place(unit)) {
      const BagRange said = bags_.said(unit);
      return {.kind = BadInput::Kind::bag,
              .bag = unit,
              .position = said.begin,
              .value = said.end,
              .limit = bags_.num_ids()};
    }
    std::int64_t position = ids_of(unit).begin;
    while (!rule_.is_bad(ids_[position])) ++position;
    const std::int64_t bag = pools_ ? unit : bags_.holder(position);
    return {.bag = bag,
            .position = position - bags_[bag].begin,
            .value = ids_[position],
            .limit = arguments_->num_rows};
  }

 private:
  [[nodiscard]] BagRange ids_of(std::int64_t unit) const {
    return pools_ ? bags_[unit] : BagRange{unit, unit + 1};
  }

  [[nodiscard]] bool has_bad_place(std::int64_t unit) const {
    return pools_ && bags_.is_bad(bags_.said(unit));
  }

  /// Adds the counted ones of some ids; true when one of them is bad.
  bool add(const BagRange& range, PooledBag<Number>& bag) const {
    RowBlock<Number> block;
    std::array<std::int64_t, RowBlock<Number>::most> positions;
    bool met_bad_id = false;
    // Without a branch on the id: padding comes at random.
    for (std::int64_t position = range.begin; position < range.end; ++position) {
      const std::int64_t id = ids_[position];
      block.rows[block.count] = id;
      positions[block.count] = position;
      block.count += rule_.is_counted(id) ? 1 : 0;
      met_bad_id |= rule_.is_bad(id);
    }
    block.weighted = spec_->weight_type.has_value();
    for (int i = 0; block.weighted && i < block.count; ++i) {
      block.weights[i] = weights_.template read<Number>(positions[i]);
    }
    bag.add(block);
    return met_bad_id;
  }

  const ForwardSpec* spec_;
  const ForwardArguments* arguments_;
  std::int64_t output_row_bytes_;
  bool pools_;
  IdRule rule_;
  Integers ids_;
  FloatArray weights_;
  Bags bags_;
  BagRange units_;
};

}  // namespace jitbag::host
