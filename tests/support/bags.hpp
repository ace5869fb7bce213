#pragma once

#include <cstdint>
#include <optional>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"
#include "spec/arguments.hpp"

namespace jitbag::test {

/// Positions within the ids.
struct Positions {
  std::int64_t begin, end;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
  [[nodiscard]] bool has(std::int64_t position) const {
    return position >= begin && position < end;
  }
};

/// What a launch's ids, offsets, weights and counts say, read one number at a time from host
/// memory, by the rules of the operator.
class Bags {
 public:
  Bags(const ForwardSpec& validated_spec, const ForwardArguments& arguments);

  /// After the device's counts.
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] std::int64_t num_ids() const { return num_ids_; }

  /// Where a bag is. Offsets outside of the ids are moved to their ends; what ends before it begins
  /// is empty.
  [[nodiscard]] Positions bag(std::int64_t number) const;

  /// From the first bag to the last: what is read, without pooling.
  [[nodiscard]] Positions all() const;

  [[nodiscard]] std::int64_t id(std::int64_t position) const;
  /// 1 where there are no weights.
  [[nodiscard]] double weight(std::int64_t position) const;
  [[nodiscard]] bool is_padding(std::int64_t position) const;
  /// Neither padding nor outside of the table.
  [[nodiscard]] bool is_counted(std::int64_t position) const;

  /// What BadIds::report must report.
  [[nodiscard]] std::optional<BadInput> first_bad_input() const;

 private:
  [[nodiscard]] std::int64_t offset(std::int64_t index) const;
  [[nodiscard]] std::int64_t bound(std::int64_t index) const;
  [[nodiscard]] std::optional<BadInput> bad_bag(std::int64_t bag) const;
  [[nodiscard]] std::optional<BadInput> bad_id(std::int64_t bag) const;

  ForwardSpec spec_;
  ForwardArguments arguments_;
  std::int64_t batch_;
  std::int64_t num_ids_;
};

}  // namespace jitbag::test
