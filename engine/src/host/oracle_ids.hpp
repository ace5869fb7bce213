#pragma once

#include <cmath>
#include <cstdint>

#include "host/bags.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"
#include "spec/arguments.hpp"

/// What the oracles of forward and of backward share, and nothing else does.
namespace jitbag::host {

/// The ids of a validated spec, which must live as long.
class OracleIds {
 public:
  OracleIds(const ForwardSpec& spec, const ForwardArguments& arguments)
      : spec_(spec),
        num_rows_(arguments.num_rows),
        bags_(spec, arguments),
        ids_(arguments.ids, spec.id_type) {}

  [[nodiscard]] const Bags& bags() const { return bags_; }
  [[nodiscard]] std::int64_t num_rows() const { return num_rows_; }
  std::int64_t operator[](std::int64_t position) const { return ids_[position]; }

  /// Whether an id counts. Refuses a bad one where ids are trusted.
  [[nodiscard]] bool is_counted(std::int64_t position) const {
    const std::int64_t id = ids_[position];
    if (id == spec_.padding_id) return false;
    if (id >= 0 && id < num_rows_) return true;
    if (spec_.bad_ids != BadIds::trust) return false;
    const std::int64_t bag = bags_.holder(position);
    throw bad_input_error(
        {.bag = bag, .position = position - bags_[bag].begin, .value = id, .limit = num_rows_});
  }

  /// Refuses a bag in the wrong place where offsets are trusted.
  void check_place(std::int64_t bag) const {
    const BagRange said = bags_.said(bag);
    if (spec_.bad_ids != BadIds::trust || !bags_.is_bad(said)) return;
    throw bad_input_error({.kind = BadInput::Kind::bag,
                           .bag = bag,
                           .position = said.begin,
                           .value = said.end,
                           .limit = bags_.num_ids()});
  }

 private:
  const ForwardSpec& spec_;
  std::int64_t num_rows_;
  Bags bags_;
  Integers ids_;
};

/// What a pooling divides by, as the operator defines it; 1 where nothing is counted.
inline double oracle_divisor(const ForwardSpec& spec, Pooling pooling, std::int64_t count,
                             double weight_sum) {
  if (count == 0) return 1;
  switch (pooling) {
    case Pooling::mean:
      return static_cast<double>(count);
    case Pooling::mean_by_weights:
      return weight_sum;
    case Pooling::mean_by_length:
      return static_cast<double>(spec.mean_length);
    case Pooling::mean_by_sqrt:
      return std::sqrt(static_cast<double>(count));
    case Pooling::sum:
    case Pooling::max:
    case Pooling::none:
      break;
  }
  return 1;
}

}  // namespace jitbag::host
