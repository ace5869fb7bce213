#include <string>
#include <vector>

#include "catch.hpp"
#include "compiled_kernel.hpp"
#include "support/conversion_kernel.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

/// The two arrays that a kernel of conversions makes of one.
template <class To>
struct Converted {
  std::vector<To> first, second;

  template <class From>
  Converted(const std::string& entry, const std::vector<From>& values, std::size_t of_each = 1)
      : first(values.size() * of_each), second(values.size() * of_each) {
    const CompiledKernel kernel(conversion_source(), entry);
    BlockRunner runner(seed());
    const auto count = static_cast<int>(values.size());
    CHECK(kernel.run(runner, {.blocks = count / 32 + 1, .block_threads = 32, .threads_meet = false},
                     [&] {
                       kernel.entry<void(const From*, int, To*, To*)>()(
                           values.data(), count, first.data(), second.data());
                     }) == "");
  }
};

TEST_CASE("the kernels' conversions on the CPU are the host's, for every number and every tie") {
  const auto values = values_to_round();
  const Converted<std::uint16_t> rounded("convert", values);
  CHECK(wrong_conversions(values, rounded.first, rounded.second) == 0);
  const Converted<std::uint8_t> encoded("encode", values);
  CHECK(wrong_encodings(values, encoded.first, encoded.second) == 0);
  const auto patterns = every_pattern();
  const Converted<float> back("convert_back", patterns);
  CHECK(wrong_conversions_back(patterns, back.first, back.second) == 0);
}

TEST_CASE("the kernels on the CPU round a double to 16 bits once, not by way of a float32") {
  const Converted<std::uint16_t> float16s("round_doubles", beside_middles_of_float16());
  CHECK(wrong_beside_middles(float16s.first) == 0);
  const Converted<std::uint16_t> bfloat16s("round_doubles", beside_middles_of_bfloat16());
  CHECK(wrong_beside_middles(bfloat16s.second) == 0);
}

TEST_CASE("the kernels' elements on the CPU are what codes and words stand for") {
  const auto words = words_of_codes();
  const Converted<float> decoded("decode", words, elements_of_word);
  CHECK(wrong_decodings(words, decoded.first, decoded.second) == 0);
  const Converted<std::uint64_t> copied("convert_doubles", doubles());
  CHECK(copied.first == doubles());
  CHECK(copied.second == doubles());
}

}  // namespace
}  // namespace jitbag::test
