#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "backward_on_cpu.hpp"
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
ForwardCaseOptions many_ids(const ForwardSpec& spec, std::int64_t num_rows) {
  ForwardCaseOptions options;
  options.spec = spec;
  options.batch = 900;
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
  }
}

TEST_CASE(
    "merging on the CPU adds rows of one id and rows of thousands, in one round and in many") {
  const Target target{9, 0};
  BackwardSpec of_fixed;
  of_fixed.forward.dim = 6;
  of_fixed.forward.bags = FixedBags{5};
  of_fixed.forward.padding_id = 0;
  BackwardSpec of_csr = of_fixed;
  of_csr.forward.bags = CsrBags{};
  of_csr.forward.pooling = {Pooling::mean_by_weights, Pooling::mean};
  of_csr.forward.weight_type = DataType::float16;
  for (const BackwardSpec& spec : {validated(of_fixed), validated(of_csr)}) {
    BackwardStrategy strategy = default_strategy(spec, BackwardMethod::merge, target, 100'000);
    for (const int bags_per_group : {1, strategy.shape.bags_per_group}) {
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
    const CompiledKernel kernel(pass.source, pass.entry);
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
    auto* const entry = kernel.entry<void(RadixPassArguments)>();
    CHECK(kernel.run(runner, {.blocks = tiles, .block_threads = pass_block_threads},
                     [&] { entry(arguments); }) == "");
    CHECK((sorted_positions == order));
    CHECK(std::equal(order.begin(), order.end(), sorted_keys.begin(),
                     [&](std::uint32_t i, std::uint32_t key) { return keys[i] == key; }));
  }
}

}  // namespace
}  // namespace jitbag::test
