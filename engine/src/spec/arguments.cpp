#include "spec/arguments.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "spec/gradient_table.hpp"
#include "spec/refuse.hpp"
#include "spec/transpose_spec.hpp"

namespace jitbag {
namespace {

/// Elements in each of the arrays of a launch.
struct Elements {
  std::int64_t table = 0;
  std::int64_t ids = 0;
  std::int64_t output = 0;
};

void check_size(std::string_view name, std::int64_t value) {
  if (value < 0) refuse("{} is {}; it must be 0 or more.", name, value);
}

/// count * width elements, of which even the bytes can be counted in 64 bits.
std::int64_t elements(std::string_view name, std::int64_t count, std::int64_t width) {
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 8;
  if (width != 0 && count > limit / width) {
    refuse("{} would have {} times {} elements, more than 64-bit addresses reach; pass less.", name,
           count, width);
  }
  return count * width;
}

Elements checked_elements(const ForwardSpec& spec, const ForwardArguments& arguments) {
  check_size("num_rows", arguments.num_rows);
  check_size("batch", arguments.batch);
  Elements result;
  // In bytes where rows are laid out in bytes.
  result.table = elements("The table", arguments.num_rows, spec.row_stride);
  if (const auto* fixed = std::get_if<FixedBags>(&spec.bags)) {
    result.ids = elements("The ids", arguments.batch, fixed->size);
  } else {
    check_size("num_ids", arguments.num_ids);
    result.ids = elements("The ids", arguments.num_ids, 1);
  }
  result.output = elements("The output", output_rows(spec, arguments), spec.output_stride);
  return result;
}

void check_32_bits(std::string_view name, std::int64_t value) {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  if (value >= limit) {
    refuse("There are {} {}, but Addressing::bits32 allows fewer than 2^31; use bits64.", value,
           name);
  }
}

void check_address(std::string_view name, const void* address, std::int64_t count,
                   std::int64_t alignment) {
  if (count > 0 && address == nullptr) {
    refuse("{} is a null pointer although it has {} elements; pass its address.", name, count);
  }
  if (reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(alignment) != 0) {
    refuse(
        "{} is at {}, which is not a multiple of {} bytes; align it, or lower the spec's "
        "alignment if its elements allow that.",
        name, address, alignment);
  }
}

void check_offsets(const CsrBags& bags, const ForwardArguments& arguments) {
  const std::int64_t last = bags.end == OffsetsEnd::included && arguments.batch > 0 ? 1 : 0;
  check_address("offsets", arguments.offsets, arguments.batch + last, size_of(bags.offset_type));
}

void check_scales(const ForwardSpec& spec, const void* scales, std::int64_t num_rows) {
  if (!is_quantised(spec.table_type) || spec.row_scale.place != RowScale::Place::apart) return;
  const std::int64_t parts = spec.row_scale.has_bias ? 2 : 1;
  check_address("scales", scales, elements("The scales", num_rows, parts),
                size_of(spec.row_scale.type) * parts);
}

void check_table(const ForwardSpec& spec, const ForwardArguments& arguments,
                 const Elements& count) {
  check_address("table", arguments.table, count.table, spec.alignment);
  check_scales(spec, arguments.scales, arguments.num_rows);
}

/// Whatever says which rows are pooled, and how.
void check_bags(const ForwardSpec& spec, const ForwardArguments& arguments, const Elements& count) {
  if (spec.addressing == Addressing::bits32) {
    check_32_bits("rows", arguments.num_rows);
    check_32_bits("ids", count.ids);
    check_32_bits("output elements", count.output);
  }
  check_address("ids", arguments.ids, count.ids, spec.id_alignment);
  if (const auto* csr = std::get_if<CsrBags>(&spec.bags)) check_offsets(*csr, arguments);
  if (spec.weight_type) {
    check_address("weights", arguments.weights, count.ids, size_of(*spec.weight_type));
  }
  if (spec.counts == Counts::on_device) {
    check_address("counts", arguments.counts, 2, sizeof(std::int64_t));
  }
}

void check_inputs(const ForwardSpec& spec, const ForwardArguments& arguments,
                  const Elements& count) {
  check_bags(spec, arguments, count);
  check_table(spec, arguments, count);
  check_address("end_parameters", arguments.end_parameters, 0, sizeof(float));
}

void check_winners(const ForwardSpec& spec, const ForwardArguments& arguments) {
  if (!spec.winners) return;
  check_address("winners", arguments.winners, elements("winners", arguments.batch, spec.dim),
                size_of(spec.id_type));
}

/// Checks what one kind of table gradient is written to.
struct CheckTableGradient {
  const ForwardSpec& spec;
  const BackwardArguments& arguments;

  void operator()(std::monostate) const {}

  void operator()(const DenseGradient& dense) const {
    check_address("table_gradient", arguments.table_gradient,
                  rows_of("The gradient", dense.row_stride), size_of(dense.type));
  }

  void operator()(const ClearedGradient& cleared) const { (*this)(cleared.of); }

  void operator()(const SparseGradient& sparse) const {
    check_size("capacity", arguments.capacity);
    check_address("table_gradient", arguments.table_gradient,
                  elements("The gradient", arguments.capacity, spec.dim),
                  row_alignment(spec.dim * size_of(sparse.type)));
    check_address("rows", arguments.rows, arguments.capacity, size_of(spec.id_type));
    check_address("count", arguments.count, 1, alignof(SparseCount));
  }

  void operator()(const AppliedGradient& applied) const {
    const Moments moments = moments_of(applied.optimizer, spec.dim);
    check_address("updated_table", arguments.updated_table, rows_of("The table", spec.row_stride),
                  spec.alignment);
    check_moment("first_moment", arguments.first_moment, moments.first);
    check_moment("second_moment", arguments.second_moment, moments.second);
    check_address("parameters", arguments.parameters, 1, alignof(OptimizerParameters));
  }

  void check_moment(std::string_view name, const float* moment, std::int64_t width) const {
    check_address(name, moment, rows_of(name, width),
                  row_alignment(width * static_cast<std::int64_t>(sizeof(float))));
  }

  [[nodiscard]] std::int64_t rows_of(std::string_view name, std::int64_t width) const {
    return elements(name, arguments.forward.num_rows, width);
  }
};

void check_index(std::string_view name, std::int64_t count, IntegerType type) {
  if (type == IntegerType::int32 && count > std::numeric_limits<std::int32_t>::max()) {
    refuse("There are {} {}, but index_type is int32, which counts to 2^31 - 1; use int64.", count,
           name);
  }
}

}  // namespace

std::int64_t num_ids(const ForwardSpec& spec, const ForwardArguments& arguments) {
  const auto* fixed = std::get_if<FixedBags>(&spec.bags);
  return fixed ? arguments.batch * fixed->size : arguments.num_ids;
}

std::int64_t output_rows(const ForwardSpec& spec, const ForwardArguments& arguments) {
  return spec.pooling.has(Pooling::none) ? num_ids(spec, arguments) : arguments.batch;
}

void check_inputs(const ForwardSpec& spec, const ForwardArguments& arguments) {
  check_inputs(spec, arguments, checked_elements(spec, arguments));
}

void check_arguments(const ForwardSpec& spec, const ForwardArguments& arguments) {
  const Elements count = checked_elements(spec, arguments);
  check_inputs(spec, arguments, count);
  check_address("output", arguments.output, count.output, spec.output_alignment);
  check_winners(spec, arguments);
}

void check_arguments(const BackwardSpec& spec, const BackwardArguments& arguments) {
  const ForwardSpec& forward = spec.forward;
  const Elements count = checked_elements(forward, arguments.forward);
  check_bags(forward, arguments.forward, count);
  check_winners(forward, arguments.forward);
  if (!std::holds_alternative<ClearedGradient>(spec.table_gradient)) {
    check_address("output_gradient", arguments.output_gradient, count.output,
                  forward.output_alignment);
  }
  std::visit(CheckTableGradient{forward, arguments}, spec.table_gradient);
  if (!spec.weight_gradient_type) return;
  check_table(forward, arguments.forward, count);
  check_address("weight_gradient", arguments.weight_gradient, count.ids,
                size_of(*spec.weight_gradient_type));
}

void check_arguments(const TransposeSpec& spec, const TransposeArguments& arguments) {
  const ForwardSpec bags = bags_of(spec);
  const Elements count = checked_elements(bags, arguments.forward);
  check_bags(bags, arguments.forward, count);
  check_index("ids", count.ids, spec.index_type);
  check_index("bags", arguments.forward.batch, spec.index_type);
  check_size("capacity", arguments.capacity);
  check_address("rows", arguments.rows, arguments.capacity, size_of(spec.id_type));
  check_address("count", arguments.count, 1, alignof(TransposeCount));
  const std::int64_t index_bytes = size_of(spec.index_type);
  check_address("begins", arguments.begins, 0, index_bytes);
  check_address("bags_by_row", arguments.bags_by_row, 0, index_bytes);
  check_address("positions_by_row", arguments.positions_by_row, 0, index_bytes);
  check_address("inverse", arguments.inverse, 0, index_bytes);
  if (spec.weight_type) {
    check_address("weights_by_row", arguments.weights_by_row, 0, size_of(*spec.weight_type));
  }
}

void check_workspace(const void* workspace, std::int64_t bytes, std::int64_t needed) {
  constexpr std::uintptr_t alignment = 256;
  if (bytes < needed) {
    refuse("workspace_bytes is {}, but {} are needed; ask workspace_bytes() for these arguments.",
           bytes, needed);
  }
  if (needed > 0 &&
      (workspace == nullptr || reinterpret_cast<std::uintptr_t>(workspace) % alignment != 0)) {
    refuse("workspace is at {}; it must be memory at a multiple of 256 bytes.", workspace);
  }
}

void check_arguments(const ForwardSpec& spec, const QuantiseArguments& arguments) {
  check_size("num_rows", arguments.num_rows);
  check_address("values", arguments.values, elements("values", arguments.num_rows, spec.dim),
                sizeof(float));
  check_address("table", arguments.table,
                elements("The table", arguments.num_rows, spec.row_stride), spec.alignment);
  check_scales(spec, arguments.scales, arguments.num_rows);
}

Error bad_input_error(const BadInput& bad) {
  const std::string table = bad.table ? fmt::format(" of table {}", *bad.table) : "";
  if (bad.kind == BadInput::Kind::id) {
    return {ErrorKind::bad_id,
            fmt::format("id {} at position {} of bag {}{} is outside the table's {} rows; correct "
                        "the ids, or set bad_ids to skip.",
                        bad.value, bad.position, bad.bag, table, bad.limit)};
  }
  return {ErrorKind::bad_offset,
          fmt::format("the offsets say that bag {}{} begins at id {} and ends before id {}, but "
                      "there are {} ids and no bag ends before it begins; correct the offsets, or "
                      "set bad_ids to skip.",
                      bad.bag, table, bad.position, bad.value, bad.limit)};
}

}  // namespace jitbag
