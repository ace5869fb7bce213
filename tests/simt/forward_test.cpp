#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <span>
#include <vector>

#include "bad_id_report.cuh"
#include "catch.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/specialisation.hpp"
#include "runtime/forward_grid.hpp"
#include "support/bad_ids.hpp"
#include "support/forward_case.hpp"
#include "support/forward_matrix.hpp"
#include "support/seed.hpp"
#include "support/shard.hpp"

namespace jitbag::test {
namespace {

using EmbeddingBagMean = void(const void* table, long long num_rows, const void* ids,
                              long long num_ids, const void* offsets, void* output, long long batch,
                              long long first_block, BadIdReport* report);

/// An output some bytes off a multiple of 16, poison all round.
class PoisonedOutput {
 public:
  PoisonedOutput(std::size_t bytes, std::size_t misalignment)
      : buffer_(2 * guard_bytes + misalignment + bytes),
        array_(std::span(buffer_).subspan(guard_bytes + misalignment, bytes)) {
    poison(buffer_);
  }

  [[nodiscard]] std::span<std::byte> array() const { return array_; }

  [[nodiscard]] bool surroundings_are_untouched() const {
    const auto is_poison = [](std::byte byte) { return byte == std::byte{0xff}; };
    const auto* const end = buffer_.data() + buffer_.size();
    return std::all_of(buffer_.data(), static_cast<const std::byte*>(array_.data()), is_poison) &&
           std::all_of(static_cast<const std::byte*>(array_.data() + array_.size()), end,
                       is_poison);
  }

 private:
  static constexpr std::size_t guard_bytes = 256;
  std::vector<std::byte> buffer_;
  std::span<std::byte> array_;
};

/// Nothing, or one sentence about a report that is not the one for the lowest bad position.
std::string check_report(const ForwardCase& forward_case, const BadIdReport& report) {
  const auto bad = lowest_bad_id(forward_case);
  if (report.lock != 0) return "The report is still locked.";
  if (!bad || forward_case.spec.bad_ids != BadIds::report) {
    return report.found == 0 ? "" : "A bad id was reported where there is none to report.";
  }
  if (report.found == 0) return "No bad id was reported.";
  if (report.position != bad->position) {
    return fmt::format("Position {} was reported instead of {}.", report.position, bad->position);
  }
  // Bags may overlap where offsets decrease: any that holds the position will do.
  const BagRange ids = bag_range(forward_case, report.bag);
  const bool agrees = report.position >= ids.begin && report.position < ids.end &&
                      report.position_in_bag == report.position - ids.begin &&
                      report.id == bad->id && report.num_rows == forward_case.num_rows;
  return agrees ? "" : "The report's bag, id or number of rows does not belong to its position.";
}

/// A kernel of the matrix as the C++ compiler made it.
class ForwardKernelOnCpu {
 public:
  ForwardKernelOnCpu(const ForwardSpec& spec, const Strategy& strategy, const Target& target,
                     std::uint64_t seed)
      : spec_(spec),
        strategy_(strategy),
        source_(specialise(spec, strategy, target)),
        kernel_(source_.source, source_.entry),
        runner_(seed) {}

  /// Launches and checks everything. Returns nothing, or one sentence.
  [[nodiscard]] std::string check(const ForwardCaseOptions& options) {
    const ForwardCase before = make_forward_case(options);
    const ForwardCase forward_case = make_forward_case(options);
    const std::int64_t off = misalignment(spec_, size_of(spec_.output_type));
    const PoisonedOutput output(forward_case.output_bytes(),
                                static_cast<std::size_t>(off * size_of(spec_.output_type)));
    BadIdReport report{};
    std::string problem = launch(forward_case, output.array().data(), report);
    if (problem.empty()) problem = check_output(forward_case, output.array());
    if (problem.empty()) problem = check_report(forward_case, report);
    if (problem.empty() && !output.surroundings_are_untouched()) {
      problem = "Something was written outside of the output.";
    }
    if (problem.empty() && (forward_case.ids.buffer != before.ids.buffer ||
                            forward_case.offsets.buffer != before.offsets.buffer ||
                            forward_case.table.buffer != before.table.buffer)) {
      problem = "An input was written to.";
    }
    return problem;
  }

 private:
  /// In two parts where there are blocks for two, as a batch too large for one launch would be.
  std::string launch(const ForwardCase& forward_case, void* output, BadIdReport& report) {
    const std::int64_t blocks = blocks_for(spec_, strategy_, forward_case.batch);
    const std::int64_t first_part = blocks / 3;
    const std::string problem = launch_part(forward_case, output, report, 0, first_part);
    if (!problem.empty()) return problem;
    return launch_part(forward_case, output, report, first_part, blocks - first_part);
  }

  std::string launch_part(const ForwardCase& forward_case, void* output, BadIdReport& report,
                          std::int64_t first_block, std::int64_t blocks) {
    const ForwardArguments with = forward_case.host_arguments(output);
    auto* const entry = kernel_.entry<EmbeddingBagMean>();
    return kernel_.run(runner_,
                       {.blocks = blocks,
                        .block_threads = strategy_.block_threads,
                        .threads_meet = strategy_.bag_lanes > 1},
                       [&] {
                         entry(with.table, with.num_rows, with.ids, with.num_ids, with.offsets,
                               output, with.batch, first_block, &report);
                       });
  }

  ForwardSpec spec_;
  Strategy strategy_;
  Specialisation source_;
  CompiledKernel kernel_;
  BlockRunner runner_;
};

/// The largest batch that keeps the whole matrix within about three minutes on two cores under the
/// sanitizers; with JITBAG_TEST_FULL=1 any batch is run. A thread that meets others costs far more
/// than one that runs alone.
std::int64_t largest_batch(const MatrixKernel& kernel, const Strategy& strategy) {
  constexpr std::int64_t elements_limit = 5'000'000;
  constexpr std::int64_t meeting_threads_limit = 100'000;
  std::int64_t batch = 1023;
  if (full_tests()) return batch;
  const auto is_too_much = [&] {
    const std::int64_t threads = blocks_for(kernel.spec, strategy, batch) * strategy.block_threads;
    return batch * longest_bag(kernel) * kernel.spec.dim > elements_limit ||
           (strategy.bag_lanes > 1 && threads > meeting_threads_limit);
  };
  while (batch > 7 && is_too_much()) batch = batch * 3 / 4;
  return batch;
}

TEST_CASE("every kernel of the matrix computes on the CPU what the oracle says", "[matrix]") {
  const Shard shard;
  const auto kernels = forward_matrix(seed());
  std::cout << fmt::format("JITBAG_TEST_SEED={}: {} kernels, shard {}/{}\n", seed(), kernels.size(),
                           shard.index, shard.count);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!shard.has(i)) continue;
    const MatrixKernel& kernel = kernels[i];
    const Target target = kernel.seed % 4 == 0 ? Target{7, 5} : Target{9, 0};
    const Strategy strategy = strategy_for(kernel, target);
    INFO("kernel " << i << ": " << describe(kernel, target));
    ForwardKernelOnCpu on_cpu(kernel.spec, strategy, target, kernel.seed);
    for (const ForwardCaseOptions& options : launches_of(kernel, largest_batch(kernel, strategy))) {
      INFO("batch " << options.batch << ", " << options.num_rows << " rows");
      CHECK(on_cpu.check(options) == "");
    }
  }
}

}  // namespace
}  // namespace jitbag::test
