#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// One shape with its data. The sets of ids differ in content for random ids, and are copies for
/// real ones: either way no launch finds the ids of the one before it in a cache.
struct Workload {
  ForwardSpec spec;
  std::int64_t num_rows = 0;
  std::int64_t batch = 0;
  std::int64_t num_ids = 0;
  std::shared_ptr<const HostBuffer> table;
  std::vector<HostBuffer> id_sets;
  HostBuffer offsets;  ///< empty for bags of one size

  [[nodiscard]] std::size_t sets() const { return id_sets.size(); }
  [[nodiscard]] std::int64_t output_elements() const { return batch * spec.dim; }
  [[nodiscard]] std::int64_t output_bytes() const {
    return output_elements() * size_of(spec.output_type);
  }
  [[nodiscard]] ForwardArguments arguments(std::size_t set, void* output) const;
};

/// How many sets of ids and outputs to rotate over: as many as steps, 30 or memory allow.
[[nodiscard]] std::size_t rotating_sets(std::int64_t steps, std::int64_t bytes_per_set);

/// Random normal values, the same for the same seed.
[[nodiscard]] HostBuffer random_table(std::int64_t rows, std::int64_t dim, DataType type,
                                      std::int64_t seed);

/// Ids uniform in [1, vocab_size], each set to 0 with the padding probability.
[[nodiscard]] HostBuffer random_ids(std::int64_t count, std::int64_t vocab_size,
                                    double padding_prob, IntegerType type, std::int64_t seed,
                                    std::size_t set);

/// The numbers in the given type. Throws Error(invalid_argument) for one that does not fit.
[[nodiscard]] HostBuffer integers(const std::vector<std::int64_t>& values, IntegerType type);

/// Bytes that a launch cannot do without: the rows counted, all ids and offsets, the output. The
/// mean over the sets.
[[nodiscard]] double bytes_moved(const Workload& workload);

}  // namespace jitbag::tools::bench
