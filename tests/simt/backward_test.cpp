#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <new>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "backward_on_cpu.hpp"
#include "bad_input_report.cuh"
#include "catch.hpp"
#include "codegen/sorted_kernels.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/specialisation.hpp"
#include "runtime/forward_grid.hpp"
#include "sort_arguments.cuh"
#include "support/backward_case.hpp"
#include "support/seed.hpp"
#include "support/shard.hpp"

namespace jitbag::test {
namespace {

TEST_CASE("every kernel of the matrix computes on the CPU the gradients that the oracle says",
          "[matrix]") {
  constexpr std::int64_t largest_batch = 60;
  const Shard shard;
  const auto kernels = backward_matrix(seed());
  std::cout << fmt::format("JITBAG_TEST_SEED={}: {} kernels of backward, shard {}/{}\n", seed(),
                           kernels.size(), shard.index, shard.count);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!shard.has(i)) continue;
    const Target target = i % 4 == 0 ? Target{7, 5} : Target{9, 0};
    INFO("kernel " << i << ": " << describe(kernels[i], target));
    BackwardOnCpu on_cpu(kernels[i].spec, strategy_for(kernels[i], target), target,
                         kernels[i].forward.seed);
    for (const ForwardCaseOptions& options : launches_of(kernels[i], largest_batch)) {
      const BackwardCase given(kernels[i].spec, options);
      INFO(given.inputs.description);
      CHECK(on_cpu.check(given) == "");
    }
  }
}

/// Thousands of ids, so that sorting takes several tiles and passes, and rows of a few fill slices.
ForwardCaseOptions many_ids(const ForwardSpec& spec, std::int64_t num_rows,
                            std::int64_t batch = 900) {
  ForwardCaseOptions options;
  options.spec = spec;
  options.batch = batch;
  options.num_rows = num_rows;
  options.seed = seed() + static_cast<std::uint64_t>(num_rows);
  return options;
}

TEST_CASE("sorting on the CPU sums rows of one id and rows of thousands") {
  const Target target{9, 0};
  BackwardSpec spec;
  spec.forward.dim = 6;
  spec.forward.bags = FixedBags{5};
  spec.forward.padding_id = 0;
  const std::array<TableGradient, 3> gradients = {
      DenseGradient{DataType::float16}, SparseGradient{}, AppliedGradient{Optimizer::adam}};
  for (const TableGradient& gradient : gradients) {
    spec.table_gradient = gradient;
    const BackwardSpec whole = validated(spec);
    BackwardOnCpu on_cpu(whole, default_strategy(whole, BackwardMethod::sort, target), target,
                         seed());
    for (const std::int64_t num_rows : {2, 30, 5000}) {
      INFO(to_text(whole) << ", rows: " << num_rows);
      CHECK(on_cpu.check(BackwardCase(whole, many_ids(whole.forward, num_rows))) == "");
    }
    // More rows of several slices than there are blocks that join them.
    CHECK(on_cpu.check(BackwardCase(whole, many_ids(whole.forward, 600, 3500))) == "");
  }
}

TEST_CASE("marking on the CPU finds and numbers the rows of tables of two rows and of millions") {
  const Target target{9, 0};
  BackwardSpec spec;
  spec.forward.dim = 4;
  spec.forward.table_type = DataType::int8;
  spec.forward.row_scale = {};
  spec.forward.bags = FixedBags{5};
  spec.forward.padding_id = 0;
  BackwardSpec of_max = spec;
  of_max.forward.pooling = Pooling::max;
  of_max.forward.winners = true;
  for (BackwardSpec whole : {spec, of_max}) {
    whole.table_gradient = SparseGradient{};
    whole = validated(whole);
    BackwardOnCpu on_cpu(whole, default_strategy(whole, BackwardMethod::scatter, target), target,
                         seed());
    // So many ids that a few of them go first.
    CHECK(on_cpu.check(BackwardCase(whole, many_ids(whole.forward, 300, 27'000))) == "");
    // Of the last one two parts of rows make a chunk.
    for (const std::int64_t num_rows : {2, 1024, 5000, 4'200'000}) {
      INFO(to_text(whole) << ", rows: " << num_rows);
      CHECK(on_cpu.check(BackwardCase(whole, many_ids(whole.forward, num_rows))) == "");
    }
  }
}

TEST_CASE(
    "merging on the CPU adds rows of one id and rows of thousands, in one round and in many") {
  const Target target{9, 0};
  BackwardSpec of_fixed;
  of_fixed.forward.dim = 6;
  of_fixed.forward.bags = FixedBags{5};
  of_fixed.forward.padding_id = 0;
  BackwardSpec of_long = of_fixed;
  of_long.forward.bags = FixedBags{37};
  BackwardSpec of_csr = of_fixed;
  of_csr.forward.bags = CsrBags{};
  of_csr.forward.pooling = {Pooling::mean_by_weights, Pooling::mean};
  of_csr.forward.weight_type = DataType::float16;
  BackwardSpec of_rows = of_fixed;
  of_rows.forward.bags = CsrBags{};
  of_rows.forward.pooling = Pooling::none;
  of_rows.forward.bad_ids = BadIds::trust;  // ids before the first offset are no rows
  of_rows.forward.id_type = IntegerType::int32;
  BackwardSpec of_max = of_fixed;
  of_max.forward.pooling = {Pooling::max, Pooling::sum};
  of_max.forward.winners = true;
  for (const BackwardSpec& given : {of_fixed, of_long, of_csr, of_rows, of_max}) {
    const BackwardSpec spec = validated(given);
    BackwardStrategy strategy = default_strategy(spec, BackwardMethod::merge, target, 100'000);
    strategy.shape.block_threads = 256;  // 85 groups, and a thread that has none
    for (const int bags_per_group : {1, 3}) {
      strategy.shape.bags_per_group = bags_per_group;
      BackwardOnCpu on_cpu(spec, strategy, target, seed());
      for (const std::int64_t num_rows : {2, 30, 5000}) {
        INFO(to_text(spec) << "; " << to_text(strategy) << ", rows: " << num_rows);
        ForwardCaseOptions options = many_ids(spec.forward, num_rows);
        options.longest_bag = 40;
        CHECK(on_cpu.check(BackwardCase(spec, options)) == "");
      }
    }
  }
}

TEST_CASE(
    "merging on the CPU reports the first bad input, in whichever bag, round and tile it is") {
  const Target target{9, 0};
  BackwardSpec spec;
  spec.forward.dim = 6;
  spec.forward.bags = CsrBags{};
  spec.forward.padding_id = -1;
  spec.forward.bad_ids = BadIds::report;
  spec.forward.addressing = Addressing::bits32;
  spec = validated(spec);
  BackwardStrategy strategy = default_strategy(spec, BackwardMethod::merge, target);
  strategy.shape.block_threads = 32;
  strategy.shape.bags_per_group = 1;
  for (const int lanes_per_row : {3, 2}) {  // of three vectors: one tile, or two
    strategy.shape.lanes_per_row = lanes_per_row;
    BackwardOnCpu on_cpu(spec, strategy, target, seed());
    for (std::uint64_t number = 0; number < 60; ++number) {
      ForwardCaseOptions options;
      options.spec = spec.forward;
      options.batch = 20;  // the last block has idle bags
      options.num_rows = 30;
      options.mix.bad = number % 2 == 0 ? 0.004 : 0.1;
      options.longest_bag = 40;
      options.broken_offsets = number % 3 == 0;
      options.poison_after = false;
      options.seed = seed() + number;
      const BackwardCase given(spec, options);
      INFO(to_text(strategy) << "; " << given.inputs.description);
      CHECK(on_cpu.check(given) == "");
    }
  }
}

/// As many floats as nobody has memory for: only pages that are touched take any.
class SparseFloats {
 public:
  explicit SparseFloats(std::size_t count) : bytes_(count * sizeof(float)) {
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    floats_ = static_cast<float*>(memory);
  }
  SparseFloats(const SparseFloats&) = delete;
  SparseFloats& operator=(const SparseFloats&) = delete;
  ~SparseFloats() { ::munmap(floats_, bytes_); }

  float& operator[](std::int64_t at) { return floats_[at]; }

 private:
  std::size_t bytes_;
  float* floats_ = nullptr;
};

/// Rows that a table of 2048 slots would all put into the first, half of them beyond 2^32.
std::vector<std::int64_t> rows_of_one_slot(std::size_t count) {
  std::vector<std::int64_t> rows;
  for (std::uint32_t row = 0; rows.size() < count; ++row) {
    if (row * 2654435769u >> (32 - 11) != 0) continue;
    rows.push_back(row);
    rows.push_back(row + (std::int64_t{1} << 32));
  }
  return rows;
}

TEST_CASE(
    "merging on the CPU adds each row at once, where all of them have one slot, beyond 2^32") {
  constexpr std::int64_t uses_of_row = 4, ids_of_bag = 32;
  const Target target{9, 0};
  BackwardSpec spec;
  spec.forward.dim = 1;
  spec.forward.bags = FixedBags{ids_of_bag};
  spec.forward.pooling = Pooling::sum;
  spec = validated(spec);
  BackwardStrategy strategy = default_strategy(spec, BackwardMethod::merge, target);
  strategy.shape.lanes_per_row = strategy.shape.block_threads = 32;  // one group
  strategy.shape.bags_per_group = 32;
  BackwardOnCpu on_cpu(spec, strategy, target, seed());

  const std::vector<std::int64_t> rows = rows_of_one_slot(256);
  std::vector<std::int64_t> ids;
  for (int i = 0; i < uses_of_row; ++i) ids.insert(ids.end(), rows.begin(), rows.end());
  std::mt19937_64 random(seed());
  std::shuffle(ids.begin(), ids.end(), random);
  const auto batch = static_cast<std::int64_t>(ids.size()) / ids_of_bag;
  const std::vector<float> output_gradient(static_cast<std::size_t>(batch), 1.0f);
  // From here on 1 is rounded away where it is added alone.
  constexpr float large = 0x1p24f;
  const std::int64_t num_rows = rows.back() + 1;
  SparseFloats gradient(static_cast<std::size_t>(num_rows));
  for (const std::int64_t row : rows) gradient[row] = large;

  BackwardArguments arguments;
  arguments.forward.ids = ids.data();
  arguments.forward.num_rows = num_rows;
  arguments.forward.batch = batch;
  arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = &gradient[0];
  BadInputReport report{};
  CHECK(on_cpu.launch(arguments, report) == "");
  CHECK(std::all_of(rows.begin(), rows.end(),
                    [&](std::int64_t row) { return gradient[row] == large + uses_of_row; }));
}

TEST_CASE("a pass of the sort orders keys by one digit and keeps the order of equal ones") {
  const BackwardSpec spec = [] {
    BackwardSpec any;
    any.forward.dim = 4;
    return validated(any);
  }();
  const Target target{9, 0};
  const auto kernels =
      specialise(spec, default_strategy(spec, BackwardMethod::sort, target), target);
  constexpr int shift = 3, digit_bits = 7;
  constexpr std::uint32_t count = 20'000;  // three tiles of the large pass
  std::mt19937_64 random(seed());
  std::vector<std::uint32_t> keys(count), digits(most_digits);
  for (std::uint32_t& key : keys) {
    key = random() % 4 == 0 ? no_row : static_cast<std::uint32_t>(random() % 1000);
    if (key != no_row) ++digits[key >> shift & ((1u << digit_bits) - 1)];
  }
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto digit = [&](std::uint32_t i) { return keys[i] >> shift & ((1u << digit_bits) - 1); };
    return digit(a) < digit(b);
  });
  for (const auto& [number, per_thread] :
       {std::pair{SortedKernel::small_pass, keys_per_thread_of_small_pass},
        std::pair{SortedKernel::large_pass, keys_per_thread_of_large_pass}}) {
    const Specialisation& pass = kernels[static_cast<std::size_t>(number)];
    const std::shared_ptr<const CompiledKernel> kernel = compiled(pass);
    const std::int64_t tiles = divided_up(count, std::int64_t{pass_block_threads} * per_thread);
    std::vector<std::uint32_t> sorted_keys(count), sorted_positions(count);
    std::vector<unsigned long long> told(static_cast<std::size_t>(tiles) * most_digits / 2);
    std::uint32_t next_tile = 0;
    const RadixPassArguments arguments = {.keys = keys.data(),
                                          .positions = nullptr,
                                          .sorted_keys = sorted_keys.data(),
                                          .sorted_positions = sorted_positions.data(),
                                          .digits = digits.data(),
                                          .tiles = told.data(),
                                          .next_tile = &next_tile,
                                          .count = count,
                                          .shift = shift,
                                          .digit_bits = digit_bits};
    BlockRunner runner(seed());
    auto* const entry = kernel->entry<void(RadixPassArguments)>();
    CHECK(kernel->run(runner, {.blocks = tiles, .block_threads = pass_block_threads},
                      [&] { entry(arguments); }) == "");
    CHECK((sorted_positions == order));
    CHECK(std::equal(order.begin(), order.end(), sorted_keys.begin(),
                     [&](std::uint32_t i, std::uint32_t key) { return keys[i] == key; }));
  }
}

}  // namespace
}  // namespace jitbag::test
