#include "block_runner.hpp"

#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compiled_kernel.hpp"
#include "support/seed.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace jitbag::test {
namespace {

using Entry = void(float* output);

constexpr const char* declarations = R"(
extern "C" float simt_shuffle_xor(float value, int mask);
extern "C" void simt_block_barrier();
)";

/// Runs a kernel `entry(float* output)` on one block.
struct Outcome {
  std::string problem;
  std::vector<float> output;
};

Outcome run(const std::string& body, int threads) {
  const CompiledKernel kernel(
      declarations + ("extern \"C\" __global__ void entry(float* output) {\n" + body + "}\n"),
      "entry");
  BlockRunner runner(seed());
  Outcome outcome;
  outcome.output.resize(static_cast<std::size_t>(threads), -1.0f);
  outcome.problem = kernel.run(runner, {.blocks = 1, .block_threads = threads},
                               [&] { kernel.entry<Entry>()(outcome.output.data()); });
  return outcome;
}

bool begins(const std::string& text, const std::string& beginning) {
  return text.rfind(beginning, 0) == 0;
}

TEST_CASE("a shuffle exchanges values within each warp") {
  const Outcome outcome =
      run("output[threadIdx.x] = simt_shuffle_xor((float)threadIdx.x, 5);\n", 64);
  CHECK(outcome.problem.empty());
  for (int i = 0; i < 64; ++i) CHECK(outcome.output[i] == static_cast<float>(i ^ 5));
}

TEST_CASE("a barrier lets nobody pass before all have come") {
  const Outcome outcome =
      run("__shared__ float shared[128];\n"
          "shared[threadIdx.x] = (float)threadIdx.x;\n"
          "simt_block_barrier();\n"
          "output[threadIdx.x] = shared[127 - threadIdx.x];\n",
          128);
  CHECK(outcome.problem.empty());
  for (int i = 0; i < 128; ++i) CHECK(outcome.output[i] == static_cast<float>(127 - i));
}

TEST_CASE("threads run in a random order, and shared memory is poison at first") {
  const Outcome outcome =
      run("__shared__ float turn[1];\n"
          "if (turn[0] != turn[0]) turn[0] = 0;\n"
          "output[threadIdx.x] = turn[0];\n"
          "turn[0] += 1;\n",
          64);
  CHECK(outcome.problem.empty());
  CHECK(std::set<float>(outcome.output.begin(), outcome.output.end()).size() == 64);
  bool in_order = true;
  for (int i = 0; i < 64; ++i) in_order = in_order && outcome.output[i] == static_cast<float>(i);
  CHECK_FALSE(in_order);
}

TEST_CASE("a shuffle that not all lanes of a warp reach is found") {
  CHECK(begins(run("if (threadIdx.x != 7) simt_shuffle_xor(1, 1);\n", 32).problem,
               "Block 0: Deadlock: 31 threads wait at a shuffle and 0 at a barrier"));
}

TEST_CASE("lanes of a warp at different shuffles are found") {
  CHECK(begins(run("simt_shuffle_xor(1, threadIdx.x < 16 ? 1 : 2);\n", 32).problem,
               "Block 0: Divergent shuffle"));
  CHECK(begins(
      run("if (threadIdx.x < 16) simt_block_barrier();\nsimt_shuffle_xor(1, 1);\n", 32).problem,
      "Block 0: Deadlock: 16 threads wait at a shuffle and 16 at a barrier"));
}

TEST_CASE("a barrier that not all threads reach is found") {
  CHECK(begins(run("if (threadIdx.x < 40) simt_block_barrier();\n", 64).problem,
               "Block 0: Deadlock: 0 threads wait at a shuffle and 40 at a barrier"));
}

#ifdef __SANITIZE_ADDRESS__
TEST_CASE("the memory that was the threads' stacks is left as the address sanitizer found it") {
  constexpr int threads = 32;
  const std::size_t page = 4096;
  char* top_page = nullptr;
  {
    BlockRunner runner(seed());
    int number = 0;
    const std::string problem = runner.run(
        threads, [&](int next) { number = next; },
        [&] {
          const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
          if (number == 0) top_page = reinterpret_cast<char*>(here / page * page);
        });
    CHECK(problem.empty());
  }
  CHECK(__asan_region_is_poisoned(top_page, page) == nullptr);
}
#endif

}  // namespace
}  // namespace jitbag::test
