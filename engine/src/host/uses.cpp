#include "host/uses.hpp"

#include <algorithm>
#include <utility>

#include "host/id_rule.hpp"
#include "host/rows.hpp"

namespace jitbag::host {
namespace {

/// Finds the uses, bag by bag.
class Collector {
 public:
  Collector(const ForwardSpec& spec, const ForwardArguments& arguments)
      : spec_(spec),
        rule_(spec, arguments.num_rows),
        bags_(spec, arguments),
        ids_(arguments.ids, spec.id_type),
        weights_(arguments.weights, spec.weight_type.value_or(DataType::float32)) {}

  void collect(Uses& uses) {
    if (spec_.pooling.has(Pooling::none)) return collect_rows(uses);
    uses.bags.resize(static_cast<std::size_t>(bags_.batch()));
    for (std::int64_t bag = 0; bag < bags_.batch(); ++bag) add_bag(bag, uses);
  }

 private:
  void collect_rows(Uses& uses) const {
    const BagRange all = bags_.all();
    for (std::int64_t position = all.begin; position < all.end; ++position) {
      const std::int64_t row = ids_[position];
      if (rule_.is_counted(row)) uses.all.push_back({row, position, position});
    }
  }

  void add_bag(std::int64_t bag, Uses& uses) const {
    CountedIds& counted = uses.bags[static_cast<std::size_t>(bag)];
    const BagRange range = bags_[bag];
    for (std::int64_t position = range.begin; position < range.end; ++position) {
      const std::int64_t row = ids_[position];
      if (!rule_.is_counted(row)) continue;
      ++counted.count;
      if (spec_.weight_type) counted.weight_sum += weights_.read<double>(position);
      uses.all.push_back({row, bag, position});
    }
  }

  const ForwardSpec& spec_;
  IdRule rule_;
  Bags bags_;
  Integers ids_;
  FloatArray weights_;
};

}  // namespace

Uses::Uses(const ForwardSpec& spec, const ForwardArguments& arguments) {
  Collector(spec, arguments).collect(*this);
}

UsesByRow::UsesByRow(std::vector<Use> uses) : all(std::move(uses)) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Use& a, const Use& b) { return a.row < b.row; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i].row == all[i - 1].row) {
      all[i].comes_again = all[i].unit == all[i - 1].unit;
      continue;
    }
    rows.push_back(all[i].row);
    begins.push_back(i);
  }
  begins.push_back(all.size());
}

}  // namespace jitbag::host
