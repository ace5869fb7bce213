#include "catch.hpp"
#include "compiled_kernel.hpp"
#include "support/conversion_kernel.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

using Convert = void(const float* value, int count, unsigned short* float16s,
                     unsigned short* bfloat16s);
using ConvertBack = void(const unsigned short* bits, int count, float* float16s, float* bfloat16s);

TEST_CASE("the kernels' conversions on the CPU are the host's, for every number and every tie") {
  BlockRunner runner(seed());
  const auto grid_for = [](int count) {
    return CompiledKernel::Grid{
        .blocks = count / 32 + 1, .block_threads = 32, .threads_meet = false};
  };

  const std::vector<float> values = values_to_round();
  const auto count = static_cast<int>(values.size());
  std::vector<std::uint16_t> float16s(values.size());
  std::vector<std::uint16_t> bfloat16s(values.size());
  const CompiledKernel convert(conversion_source(), "convert");
  CHECK(convert.run(runner, grid_for(count), [&] {
    convert.entry<Convert>()(values.data(), count, float16s.data(), bfloat16s.data());
  }) == "");
  CHECK(wrong_conversions(values, float16s, bfloat16s) == 0);

  const std::vector<std::uint16_t> patterns = every_pattern();
  std::vector<float> from_float16(patterns.size());
  std::vector<float> from_bfloat16(patterns.size());
  const CompiledKernel back(conversion_source(), "convert_back");
  CHECK(back.run(runner, grid_for(0x10000), [&] {
    back.entry<ConvertBack>()(patterns.data(), 0x10000, from_float16.data(), from_bfloat16.data());
  }) == "");
  CHECK(wrong_conversions_back(patterns, from_float16, from_bfloat16) == 0);
}

}  // namespace
}  // namespace jitbag::test
