#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/optimizer_step.hpp"
#include "host/rows.hpp"
#include "host/stochastic_rounding.hpp"
#include "host/store.hpp"
#include "jitbag/backward.hpp"

/// What becomes of a row's gradient, `sums[dim]`. Each takes the row, and its place among the rows
/// that have a gradient; any thread may call it for a row of its own.
namespace jitbag::host {

template <class Number>
class DenseSink {
 public:
  DenseSink(const BackwardSpec& spec, const DenseGradient& dense,
            const BackwardArguments& arguments)
      : dim_(spec.forward.dim),
        dense_(dense),
        gradient_(static_cast<std::byte*>(arguments.table_gradient)) {}

  void operator()(std::int64_t row, std::size_t, Number* sums) const {
    const FloatArray before(gradient_, dense_.type);
    for (std::int64_t column = 0; column < dim_; ++column) {
      const std::int64_t index = row * dense_.row_stride + column;
      store_float(dense_.type, gradient_, index,
                  static_cast<double>(before.read<Number>(index) + sums[column]));
    }
  }

 private:
  std::int64_t dim_;
  DenseGradient dense_;
  std::byte* gradient_;
};

template <class Number>
class SparseSink {
 public:
  SparseSink(const BackwardSpec& spec, const SparseGradient& sparse,
             const BackwardArguments& arguments)
      : dim_(spec.forward.dim),
        id_type_(spec.forward.id_type),
        type_(sparse.type),
        capacity_(static_cast<std::size_t>(arguments.capacity)),
        rows_(static_cast<std::byte*>(arguments.rows)),
        gradient_(static_cast<std::byte*>(arguments.table_gradient)) {}

  void operator()(std::int64_t row, std::size_t place, Number* sums) const {
    if (place >= capacity_) return;
    const auto index = static_cast<std::int64_t>(place);
    if (id_type_ == IntegerType::int64) {
      store(rows_, index, row);
    } else {
      store(rows_, index, static_cast<std::int32_t>(row));
    }
    for (std::int64_t column = 0; column < dim_; ++column) {
      store_float(type_, gradient_, index * dim_ + column, static_cast<double>(sums[column]));
    }
  }

 private:
  std::int64_t dim_;
  IntegerType id_type_;
  DataType type_;
  std::size_t capacity_;
  std::byte* rows_;
  std::byte* gradient_;
};

template <class Number>
class AppliedSink {
 public:
  AppliedSink(const BackwardSpec& spec, const AppliedGradient& applied,
              const BackwardArguments& arguments)
      : applied_(applied),
        dim_(spec.forward.dim),
        stride_(spec.forward.row_stride),
        type_(spec.forward.table_type),
        moments_(moments_of(applied.optimizer, dim_)),
        arguments_(arguments),
        table_(static_cast<std::byte*>(arguments.updated_table)) {}

  void operator()(std::int64_t row, std::size_t, Number* sums) const {
    const FloatArray table(table_, type_);
    std::vector<Number> x(static_cast<std::size_t>(dim_));
    for (std::int64_t i = 0; i < dim_; ++i) x[i] = table.read<Number>(row * stride_ + i);
    step(applied_.optimizer, *arguments_.parameters, dim_, sums, x.data(), moments_of_row(row));
    for (std::int64_t i = 0; i < dim_; ++i) put(row, i, x[i]);
  }

 private:
  [[nodiscard]] RowMoments moments_of_row(std::int64_t row) const {
    RowMoments moments;
    if (moments_.first > 0) moments.first = arguments_.first_moment + row * moments_.first;
    if (moments_.second > 0) moments.second = arguments_.second_moment + row * moments_.second;
    return moments;
  }

  void put(std::int64_t row, std::int64_t column, Number value) const {
    const std::int64_t index = row * stride_ + column;
    if (!applied_.stochastic_rounding) {
      return store_float(type_, table_, index, static_cast<double>(value));
    }
    const OptimizerParameters& parameters = *arguments_.parameters;
    const std::uint32_t random = random_bits(parameters.seed, parameters.step, row, column);
    const auto narrow = static_cast<float>(value);
    store(table_, index,
          type_ == DataType::float16 ? stochastic_float16(narrow, random)
                                     : stochastic_bfloat16(narrow, random));
  }

  AppliedGradient applied_;
  std::int64_t dim_;
  std::int64_t stride_;
  DataType type_;
  Moments moments_;
  const BackwardArguments& arguments_;
  std::byte* table_;
};

}  // namespace jitbag::host
