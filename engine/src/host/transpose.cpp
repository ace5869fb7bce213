#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "host/first_bad_input.hpp"
#include "host/store.hpp"
#include "host/uses.hpp"
#include "jitbag/host.hpp"
#include "spec/arguments.hpp"
#include "spec/transpose_spec.hpp"

namespace jitbag::host {
namespace {

/// An output of integers, which may not be asked for.
class IndexArray {
 public:
  IndexArray(void* array, IntegerType type) : array_(static_cast<std::byte*>(array)), type_(type) {}

  void write(std::int64_t at, std::int64_t value) const {
    if (array_ == nullptr) return;
    if (type_ == IntegerType::int64) {
      store(array_, at, value);
    } else {
      store(array_, at, static_cast<std::int32_t>(value));
    }
  }

 private:
  std::byte* array_;
  IntegerType type_;
};

/// The uses, each once, in the order of their positions: of a position in two bags that of the last
/// one.
std::vector<Use> uses_by_position(const ForwardSpec& spec, const ForwardArguments& arguments,
                                  std::int64_t ids) {
  constexpr std::int64_t none = -1;
  std::vector<Use> at_position(static_cast<std::size_t>(ids), Use{.unit = none});
  for (const Use& use : Uses(spec, arguments).all) {
    at_position[static_cast<std::size_t>(use.position)] = use;
  }
  std::erase_if(at_position, [](const Use& use) { return use.unit == none; });
  return at_position;
}

class Transposition {
 public:
  Transposition(const TransposeSpec& spec, const TransposeArguments& arguments, UsesByRow uses)
      : arguments_(arguments),
        uses_(std::move(uses)),
        weight_bytes_(spec.weight_type && arguments.weights_by_row != nullptr
                          ? size_of(*spec.weight_type)
                          : 0),
        rows_(arguments.rows, spec.id_type),
        begins_(arguments.begins, spec.index_type),
        bags_(arguments.bags_by_row, spec.index_type),
        positions_(arguments.positions_by_row, spec.index_type),
        inverse_(arguments.inverse, spec.index_type) {}

  void write(std::int64_t ids) const {
    const auto found = static_cast<std::int64_t>(uses_.rows.size());
    TransposeCount& count = *arguments_.count;
    count.rows = std::min(found, arguments_.capacity);
    count.missing = found - count.rows;
    count.ids = static_cast<std::int64_t>(uses_.all.size());
    for (std::int64_t position = 0; position < ids; ++position) inverse_.write(position, -1);
    for (std::int64_t k = 0; k < count.rows; ++k) write_row(k);
    begins_.write(count.rows, begin_of(count.rows));
    for (std::int64_t i = 0; i < count.ids; ++i) write_use(i);
  }

 private:
  [[nodiscard]] std::int64_t begin_of(std::int64_t row) const {
    return static_cast<std::int64_t>(uses_.begins[static_cast<std::size_t>(row)]);
  }
  [[nodiscard]] const Use& use(std::int64_t number) const {
    return uses_.all[static_cast<std::size_t>(number)];
  }

  void write_row(std::int64_t k) const {
    rows_.write(k, uses_.rows[static_cast<std::size_t>(k)]);
    begins_.write(k, begin_of(k));
    for (std::int64_t i = begin_of(k); i < begin_of(k + 1); ++i) inverse_.write(use(i).position, k);
  }

  void write_use(std::int64_t number) const {
    bags_.write(number, use(number).unit);
    positions_.write(number, use(number).position);
    if (weight_bytes_ == 0) return;
    std::memcpy(static_cast<std::byte*>(arguments_.weights_by_row) + number * weight_bytes_,
                static_cast<const std::byte*>(arguments_.forward.weights) +
                    use(number).position * weight_bytes_,
                static_cast<std::size_t>(weight_bytes_));
  }

  const TransposeArguments& arguments_;
  UsesByRow uses_;
  std::int64_t weight_bytes_;
  IndexArray rows_, begins_, bags_, positions_, inverse_;
};

}  // namespace

void transpose(const TransposeSpec& given_spec, const TransposeArguments& arguments) {
  const TransposeSpec spec = validated(given_spec);
  check_arguments(spec, arguments);
  const ForwardSpec forward = sorting_of(spec).forward;
  const std::int64_t ids = num_ids(forward, arguments.forward);
  Transposition(spec, arguments, UsesByRow(uses_by_position(forward, arguments.forward, ids)))
      .write(ids);
  if (spec.bad_ids != BadIds::report) return;
  if (const auto bad = first_bad_input(forward, arguments.forward)) throw bad_input_error(*bad);
}

}  // namespace jitbag::host
