#include "host/pooled_bag.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "host/floats.hpp"

namespace jitbag::host {
namespace {

/// Whether a pooling writes the largest elements; of a row alone, those are the row.
bool is_of_largest(Pooling pooling) {
  return pooling == Pooling::max || pooling == Pooling::none;
}

/// Elements of a vector of `dim` that share no cache line with another one.
std::size_t room(std::int64_t dim) {
  return static_cast<std::size_t>(dim) + 64 / sizeof(float);
}

/// Adds a block with the vectorised loops, where there are some for the table.
bool add_vectorised(const RowLoops& loops, const std::byte* table, std::int64_t row_bytes,
                    const RowBlock<float>& block, std::int64_t dim, float* sums) {
  if (loops.add_rows == nullptr) return false;
  loops.add_rows(table, static_cast<std::uint64_t>(row_bytes), block, dim, sums);
  return true;
}

bool add_vectorised(const RowLoops&, const std::byte*, std::int64_t, const RowBlock<double>&,
                    std::int64_t, double*) {
  return false;
}

void write_quotients(const RowLoops& loops, const float* values, float divisor, std::int64_t dim,
                     DataType, std::byte* output) {
  loops.write_quotients(values, divisor, dim, output);
}

template <class Narrow>
void write_each(const double* values, double divisor, std::int64_t dim, std::byte* output,
                Narrow narrow) {
  for (std::int64_t column = 0; column < dim; ++column) {
    const auto stored = narrow(values[column] / divisor);
    std::memcpy(output + column * sizeof stored, &stored, sizeof stored);
  }
}

void write_quotients(const RowLoops&, const double* values, double divisor, std::int64_t dim,
                     DataType type, std::byte* output) {
  const auto write = [&](auto narrow) { write_each(values, divisor, dim, output, narrow); };
  switch (type) {
    case DataType::float32:
      return write([](double value) { return static_cast<float>(value); });
    case DataType::float16:
      return write([](double value) { return round_to_float16(narrowed_to_odd(value)); });
    case DataType::bfloat16:
      return write([](double value) { return round_to_bfloat16(narrowed_to_odd(value)); });
    default:
      return write([](double value) { return value; });
  }
}

template <class Integer>
void copy_as(const std::vector<std::int64_t>& values, std::int64_t count, Integer* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Integer>(values[i]);
}

}  // namespace

template <class Number>
PooledBag<Number>::PooledBag(const ForwardSpec& spec, const ForwardArguments& arguments)
    : spec_(&spec),
      table_(static_cast<const std::byte*>(arguments.table)),
      row_bytes_(row_stride_bytes(spec)),
      output_bytes_(spec.dim * size_of(spec.output_type)),
      rows_(spec, arguments),
      loops_(row_loops(spec.table_type, spec.output_type)),
      values_(room(spec.dim)) {
  has_largest_ = std::any_of(spec.pooling.begin(), spec.pooling.end(), is_of_largest);
  has_sums_ = !std::all_of(spec.pooling.begin(), spec.pooling.end(), is_of_largest);
  if (has_sums_) sums_.resize(room(spec.dim));
  if (has_largest_) largest_.resize(room(spec.dim));
  if (spec.winners) winners_.resize(room(spec.dim));
}

template <class Number>
void PooledBag<Number>::clear() {
  count_ = 0;
  weight_sum_ = 0;
  std::fill(sums_.begin(), sums_.end(), Number{0});
  std::fill(largest_.begin(), largest_.end(), Number{0});
  std::fill(winners_.begin(), winners_.end(), -1);
}

template <class Number>
void PooledBag<Number>::add(const RowBlock<Number>& block) {
  const bool sums_are_left =
      has_sums_ && !add_vectorised(loops_, table_, row_bytes_, block, spec_->dim, sums_.data());
  for (int i = 0; i < block.count && (sums_are_left || has_largest_); ++i) {
    rows_.widen(block.rows[i], spec_->dim, values_.data());
    if (sums_are_left) add_row(values_.data(), block.weighted ? block.weights[i] : Number{1});
    if (has_largest_) raise_largest(values_.data(), block.rows[i], count_ + i == 0);
  }
  count_ += block.count;
  if (!block.weighted) return;
  for (int i = 0; i < block.count; ++i) weight_sum_ += block.weights[i];
}

template <class Number>
void PooledBag<Number>::add_row(const Number* values, Number weight) {
  Number* const sums = sums_.data();
  for (std::int64_t column = 0; column < spec_->dim; ++column) {
    sums[column] += weight * values[column];
  }
}

template <class Number>
void PooledBag<Number>::raise_largest(const Number* values, std::int64_t row, bool is_first) {
  Number* const largest = largest_.data();
  const auto wins = [&](std::int64_t column) {
    return is_first || (!(values[column] <= largest[column]) && !std::isnan(largest[column]));
  };
  if (spec_->winners) {
    for (std::int64_t column = 0; column < spec_->dim; ++column) {
      if (wins(column)) winners_[column] = row;
    }
  }
  for (std::int64_t column = 0; column < spec_->dim; ++column) {
    largest[column] = wins(column) ? values[column] : largest[column];
  }
}

template <class Number>
Number PooledBag<Number>::divisor(Pooling pooling) const {
  if (count_ == 0) return 1;
  switch (pooling) {
    case Pooling::mean:
      return static_cast<Number>(count_);
    case Pooling::mean_by_weights:
      return weight_sum_;
    case Pooling::mean_by_length:
      return static_cast<Number>(spec_->mean_length);
    case Pooling::mean_by_sqrt:
      return std::sqrt(static_cast<Number>(count_));
    default:
      return 1;
  }
}

template <class Number>
void PooledBag<Number>::write(std::byte* output) const {
  for (const Pooling pooling : spec_->pooling) {
    const std::vector<Number>& values = is_of_largest(pooling) ? largest_ : sums_;
    write_quotients(loops_, values.data(), divisor(pooling), spec_->dim, spec_->output_type,
                    output);
    output += output_bytes_;
  }
}

template <class Number>
void PooledBag<Number>::write_winners(void* winners, std::int64_t first) const {
  if (spec_->id_type == IntegerType::int64) {
    copy_as(winners_, spec_->dim, static_cast<std::int64_t*>(winners) + first);
  } else {
    copy_as(winners_, spec_->dim, static_cast<std::int32_t*>(winners) + first);
  }
}

template class PooledBag<float>;
template class PooledBag<double>;

}  // namespace jitbag::host
