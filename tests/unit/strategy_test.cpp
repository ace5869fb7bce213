#include "jitbag/strategy.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support/caught.hpp"
#include "support/forward_matrix.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

constexpr std::array targets{Target{7, 5}, Target{8, 0}, Target{9, 0}, Target{10, 0},
                             Target{12, 0}};
constexpr Target h200{9, 0};

ForwardSpec spec_of(std::int64_t dim, std::int64_t bag) {
  ForwardSpec spec;
  spec.dim = dim;
  spec.bags = FixedBags{bag};
  spec.table_type = DataType::float16;
  spec.output_type = DataType::float16;
  return spec;
}

/// What is said about a good strategy after a change.
std::string complaint(const std::function<void(Strategy&)>& change, const Target& target = h200) {
  const ForwardSpec spec = spec_of(64, 4);
  Strategy strategy = default_strategy(spec, target);
  change(strategy);
  return caught([&] { validate(strategy, spec, target); });
}

TEST_CASE("the largest expected batch is not taken for a small one") {
  const ForwardSpec spec = {.dim = 4, .bags = FixedBags{.size = 1000}};
  const Target target = {.major = 9, .minor = 0};
  CHECK(default_strategy(spec, target, std::numeric_limits<std::int64_t>::max()).bag_lanes == 1);
}

TEST_CASE("the rule's strategy is valid for every spec of the matrix, target and batch") {
  for (const MatrixKernel& kernel : forward_matrix(seed())) {
    for (const Target& target : targets) {
      for (const auto batch :
           {std::optional<std::int64_t>(), std::optional<std::int64_t>(0),
            std::optional<std::int64_t>(1), std::optional<std::int64_t>(1'000'000'000)}) {
        const Strategy strategy = default_strategy(kernel.spec, target, batch);
        INFO(to_text(kernel.spec) << " | " << to_text(strategy) << " | " << to_text(target));
        CHECK(caught([&] { validate(strategy, kernel.spec, target); }) == "nothing");
      }
    }
  }
}

TEST_CASE("candidates are valid, all different, and the rule's strategy is the first of them") {
  for (const MatrixKernel& kernel : forward_matrix(seed())) {
    for (const Target& target : {targets.front(), h200}) {
      INFO(to_text(kernel.spec) << " | " << to_text(target));
      const auto candidates = candidate_strategies(kernel.spec, target);
      REQUIRE(candidates.front() == default_strategy(kernel.spec, target));
      for (auto it = candidates.begin(); it != candidates.end(); ++it) {
        CHECK(caught([&] { validate(*it, kernel.spec, target); }) == "nothing");
        CHECK(std::find(candidates.begin(), it, *it) == it);
      }
    }
  }
}

TEST_CASE("every strategy that the kernels are tested with is valid") {
  for (const MatrixKernel& kernel : forward_matrix(seed())) {
    for (const Target& target : targets) {
      INFO(describe(kernel, target));
      CHECK(caught([&] { validate(strategy_for(kernel, target), kernel.spec, target); }) ==
            "nothing");
    }
  }
}

TEST_CASE("a degenerate spec has a strategy too") {
  for (const std::int64_t dim : {0, 1, 100'000}) {
    for (const std::int64_t bag : {0, 1, 1'000'000'000}) {
      const ForwardSpec spec = spec_of(dim, bag);
      INFO(to_text(spec));
      CHECK(caught([&] { validate(default_strategy(spec, h200, 1), spec, h200); }) == "nothing");
    }
  }
}

TEST_CASE("vectors are as wide as dim, row stride and alignment allow") {
  CHECK(default_strategy(spec_of(64, 4), h200).vector_bytes == 16);
  CHECK(default_strategy(spec_of(36, 4), h200).vector_bytes == 8);
  CHECK(default_strategy(spec_of(514, 4), h200).vector_bytes == 4);
  CHECK(default_strategy(spec_of(1023, 4), h200).vector_bytes == 2);
  ForwardSpec spec = spec_of(64, 4);
  spec.row_stride = 68;
  CHECK(default_strategy(spec, h200).vector_bytes == 8);
  spec.row_stride = 64;
  spec.alignment = 4;
  CHECK(default_strategy(spec, h200).vector_bytes == 4);
}

TEST_CASE("lanes go over the bag where a small batch of large bags leaves the device idle") {
  CHECK(default_strategy(spec_of(64, 200), h200, 1).bag_lanes > 1);
  CHECK(default_strategy(spec_of(64, 200), h200).bag_lanes == 1);
  CHECK(default_strategy(spec_of(64, 200), h200, 1'000'000).bag_lanes == 1);
  CHECK(default_strategy(spec_of(64, 2), h200, 1).bag_lanes == 1);
}

TEST_CASE("dependent launch is the rule where the architecture has it") {
  CHECK(default_strategy(spec_of(64, 4), {8, 9}).launch_mode == LaunchMode::plain);
  CHECK(default_strategy(spec_of(64, 4), h200).launch_mode == LaunchMode::dependent);
}

TEST_CASE("a strategy that cannot work is refused by field, value and what is allowed") {
  const std::string begin = "invalid_argument: The strategy's ";
  CHECK(complaint([](Strategy&) {}) == "nothing");
  CHECK(complaint([](Strategy& s) { s.vector_bytes = 1; }) ==
        begin +
            "vector_bytes is 1; it must be a power of two from 2 to 16 for this dim, row stride "
            "and alignment.");
  CHECK(complaint([](Strategy& s) { s.vector_bytes = 32; }).find("vector_bytes is 32") !=
        std::string::npos);
  CHECK(complaint([](Strategy& s) { s.vector_bytes = 12; }).find("vector_bytes is 12") !=
        std::string::npos);
  CHECK(complaint([](Strategy& s) { s.vectors_per_lane = 0; }) ==
        begin + "vectors_per_lane is 0; it must be from 1 to 64.");
  CHECK(complaint([](Strategy& s) { s.rows_in_flight = 65; }) ==
        begin + "rows_in_flight is 65; it must be from 1 to 64.");
  CHECK(complaint([](Strategy& s) { s.lanes_per_row = 33; }) ==
        begin + "lanes_per_row is 33; it must be from 1 to 32.");
  CHECK(complaint([](Strategy& s) { s.bag_lanes = 3; }) ==
        begin + "bag_lanes is 3; it must be a power of two from 1 to 1024.");
  CHECK(complaint([](Strategy& s) {
          s.bag_lanes = 2;
          s.lanes_per_row = 3;
        }) == begin + "lanes_per_row is 3; it must be a power of two where bag_lanes is over 1.");
  CHECK(complaint([](Strategy& s) { s.block_threads = 48; }) ==
        begin + "block_threads is 48; it must be a multiple of 32 from 32 to 1024.");
  CHECK(complaint([](Strategy& s) { s.block_threads = 2048; }) ==
        begin + "block_threads is 2048; it must be a multiple of 32 from 32 to 1024.");
  CHECK(complaint([](Strategy& s) {
          s.bag_lanes = 32;
          s.block_threads = 128;
        }) ==
        begin + "block_threads is 128; it must be a multiple of lanes_per_row * bag_lanes = 256.");
  CHECK(complaint([](Strategy& s) {
          s.lanes_per_row = 32;
          s.bag_lanes = 32;
          s.block_threads = 1024;
          s.vectors_per_lane = 8;
        }).find("shared memory for the reduction is 266240; it must be 49152 bytes at most") !=
        std::string::npos);
  CHECK(complaint([](Strategy& s) { s.launch_mode = LaunchMode::dependent; }, {8, 0}) ==
        begin +
            "launch mode is dependent, which sm_80 does not have; it needs sm_90 or later. Use "
            "plain.");
}

TEST_CASE("a strategy reads as one line") {
  CHECK(to_text(default_strategy(spec_of(64, 4), h200)) ==
        "vector=16B vectors=1 lanes=8 bag_lanes=1 rows=4 bags=1 block=128 launch=dependent");
}

}  // namespace
}  // namespace jitbag::test
