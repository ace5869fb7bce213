#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag::tools::bench {

/// Host memory that is not cleared first: tables are large.
class HostBuffer {
 public:
  HostBuffer() = default;
  explicit HostBuffer(std::int64_t bytes)
      : data_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes))),
        size_(static_cast<std::size_t>(bytes)) {}

  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
};

/// A table, and what it has beside its rows.
struct HostTable {
  HostBuffer rows;
  HostBuffer scales;  ///< of a quantised table with RowScale::Place::apart
};

/// One shape with its data. The sets of ids differ in content for random ids, and are copies for
/// real ones: either way no launch finds the ids of the one before it in a cache.
struct Workload {
  ForwardSpec spec;
  std::int64_t num_rows = 0;
  std::int64_t batch = 0;
  std::int64_t num_ids = 0;
  std::shared_ptr<const HostTable> table;
  std::vector<HostBuffer> id_sets;
  std::vector<HostBuffer> weight_sets;  ///< empty without weights
  HostBuffer offsets;                   ///< empty for bags of one size

  [[nodiscard]] std::size_t sets() const { return id_sets.size(); }
  [[nodiscard]] std::int64_t output_rows() const {
    return spec.pooling.has(Pooling::none) ? num_ids : batch;
  }
  [[nodiscard]] std::int64_t output_elements() const { return output_rows() * output_width(spec); }
  [[nodiscard]] std::int64_t output_bytes() const {
    return output_elements() * size_of(spec.output_type);
  }
  /// Bytes of one set of ids, weights and output.
  [[nodiscard]] std::int64_t set_bytes() const;
  /// First and last (exclusive) row of the output that is written.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> rows_written() const;
  [[nodiscard]] std::int64_t longest_bag() const;
  [[nodiscard]] ForwardArguments arguments(std::size_t set, void* output) const;
};

/// How many sets of ids and outputs to rotate over: as many as steps, 30 or memory allow.
[[nodiscard]] std::size_t rotating_sets(std::int64_t steps, std::int64_t bytes_per_set);

/// Random normal values, the same for the same seed. Of a quantised table codes and scales are
/// random, so that its elements are of the same size.
[[nodiscard]] HostTable random_table(std::int64_t rows, const ForwardSpec& spec, std::int64_t seed);

/// Uniform between 0 and 1.
[[nodiscard]] HostBuffer random_weights(std::int64_t count, DataType type, std::int64_t seed,
                                        std::size_t set);

/// Ids uniform in [1, vocab_size], each set to 0 with the padding probability.
[[nodiscard]] HostBuffer random_ids(std::int64_t count, std::int64_t vocab_size,
                                    double padding_prob, IntegerType type, std::int64_t seed,
                                    std::size_t set);

/// The numbers in the given type. Throws Error(invalid_argument) for one that does not fit.
[[nodiscard]] HostBuffer integers(const std::vector<std::int64_t>& values, IntegerType type);

/// Number `index` of an array of integers.
[[nodiscard]] std::int64_t integer_at(const HostBuffer& buffer, IntegerType type,
                                      std::int64_t index);

/// Bytes of a row's scale and bias.
[[nodiscard]] std::int64_t scale_bytes(const ForwardSpec& spec);

/// Bytes that a launch cannot do without: the rows counted with their scales and weights, all ids
/// and offsets, the output. The mean over the sets.
[[nodiscard]] double bytes_moved(const Workload& workload);

}  // namespace jitbag::tools::bench
