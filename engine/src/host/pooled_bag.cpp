#include "host/pooled_bag.hpp"

#include <algorithm>
#include <cmath>

#include "host/divisor.hpp"
#include "host/store.hpp"

namespace jitbag::host {
namespace {

/// Whether a pooling writes the largest elements; of a row alone, those are the row.
bool is_of_largest(Pooling pooling) {
  return !is_sum_or_mean(pooling);
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

void write_quotients(const RowLoops&, const double* values, double divisor, std::int64_t dim,
                     DataType type, std::byte* output) {
  for (std::int64_t column = 0; column < dim; ++column) {
    store_float(type, output, column, values[column] / divisor);
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
void PooledBag<Number>::write(std::byte* output) const {
  for (const Pooling pooling : spec_->pooling) {
    const std::vector<Number>& values = is_of_largest(pooling) ? largest_ : sums_;
    write_quotients(loops_, values.data(), divisor(*spec_, pooling, count_, weight_sum_),
                    spec_->dim, spec_->output_type, output);
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
