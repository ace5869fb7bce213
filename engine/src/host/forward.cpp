#include <omp.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "host/bags.hpp"
#include "host/row_loops.hpp"
#include "jitbag/host.hpp"
#include "spec/arguments.hpp"

namespace jitbag::host {
namespace {

/// What an id means: a row to add, padding, or a mistake.
class IdRule {
 public:
  IdRule(const ForwardSpec& spec, std::int64_t num_rows)
      : has_padding_(spec.padding_id.has_value()),
        padding_(spec.padding_id.value_or(0)),
        limit_(spec.bad_ids == BadIds::trust ? std::numeric_limits<std::uint64_t>::max()
                                             : static_cast<std::uint64_t>(num_rows)) {}

  bool is_padding(std::int64_t id) const { return has_padding_ && id == padding_; }
  bool is_bad(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) >= limit_ && !is_padding(id);
  }
  bool is_counted(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) < limit_ && !is_padding(id);
  }

 private:
  bool has_padding_;
  std::int64_t padding_;
  std::uint64_t limit_;
};

/// One call of the backend: what every thread reads.
class Work {
 public:
  Work(const ForwardSpec& spec, const ForwardArguments& arguments)
      : table_(static_cast<const std::byte*>(arguments.table)),
        output_(static_cast<std::byte*>(arguments.output)),
        dim_(spec.dim),
        row_bytes_(static_cast<std::uint64_t>(spec.row_stride * size_of(spec.table_type))),
        output_row_bytes_(spec.dim * size_of(spec.output_type)),
        rule_(spec, arguments.num_rows),
        ids_(arguments.ids, spec.id_type),
        bags_(spec, arguments),
        loops_(row_loops(spec.table_type, spec.output_type)) {}

  /// Computes a bag with room for `dim` sums; true when it met a bad id.
  bool compute(std::int64_t bag, float* sums) const {
    const BagRange range = bags_[bag];
    std::fill_n(sums, dim_, 0.0f);
    std::int64_t counted = 0;
    bool met_bad_id = false;
    for (std::int64_t begin = range.begin; begin < range.end; begin += block_ids) {
      const std::int64_t end = std::min(begin + block_ids, range.end);
      std::array<std::uint64_t, block_ids> row_offsets;
      int rows = 0;
      // Without a branch on the id: padding comes at random.
      for (std::int64_t position = begin; position < end; ++position) {
        const std::int64_t id = ids_[position];
        row_offsets[rows] = static_cast<std::uint64_t>(id) * row_bytes_;
        rows += rule_.is_counted(id) ? 1 : 0;
        met_bad_id |= rule_.is_bad(id);
      }
      loops_.add_rows(table_, row_offsets.data(), rows, dim_, sums);
      counted += rows;
    }
    const float divisor = counted == 0 ? 1.0f : static_cast<float>(counted);
    loops_.write_quotients(sums, divisor, dim_, output_ + bag * output_row_bytes_);
    return met_bad_id;
  }

  /// The bad id of the first bag that has one.
  BadId first_bad_id() const {
    for (std::int64_t bag = 0;; ++bag) {
      const BagRange range = bags_[bag];
      for (std::int64_t position = range.begin; position < range.end; ++position) {
        const std::int64_t id = ids_[position];
        if (rule_.is_bad(id)) return {id, position - range.begin, bag};
      }
    }
  }

 private:
  /// Ids that are looked at before their rows are added.
  static constexpr std::int64_t block_ids = 256;

  const std::byte* table_;
  std::byte* output_;
  std::int64_t dim_;
  std::uint64_t row_bytes_;
  std::int64_t output_row_bytes_;
  IdRule rule_;
  Integers ids_;
  Bags bags_;
  RowLoops loops_;
};

int thread_count(int asked, std::int64_t batch) {
  if (asked < 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("threads is {}; it must be 0, for one on each core, or more.", asked));
  }
  // More threads than this only cost, and a system that runs out of them ends the process.
  const int most = 8 * omp_get_num_procs();
  const int available = asked == 0 ? omp_get_num_procs() : std::min(asked, most);
  return static_cast<int>(std::min<std::int64_t>(available, batch));
}

}  // namespace

void forward(const ForwardSpec& given_spec, const ForwardArguments& arguments, int threads) {
  const ForwardSpec spec = validated(given_spec);
  check_arguments(spec, arguments);
  const std::int64_t batch = arguments.batch;
  const int count = thread_count(threads, batch);
  if (batch == 0 || spec.dim == 0) return;

  const Work work(spec, arguments);
  // No two threads write to one cache line.
  const std::int64_t sums_stride = (spec.dim + 15) / 16 * 16 + 16;
  std::vector<float> sums(static_cast<std::size_t>(count * sums_stride));
  // Small enough to even out bags of different sizes, large enough to be dealt out rarely.
  const std::int64_t share = std::max<std::int64_t>(1, batch / (count * std::int64_t{16}));
  bool met_bad_id = false;
#pragma omp parallel for num_threads(count) schedule(dynamic, share) reduction(|| : met_bad_id)
  for (std::int64_t bag = 0; bag < batch; ++bag) {
    const bool met = work.compute(bag, sums.data() + omp_get_thread_num() * sums_stride);
    met_bad_id = met_bad_id || met;
  }
  if (met_bad_id && spec.bad_ids == BadIds::report) {
    throw bad_id_error(work.first_bad_id(), arguments.num_rows);
  }
}

}  // namespace jitbag::host
