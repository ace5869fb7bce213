#include <array>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/conversion_kernel.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

/// The two arrays that a kernel of conversions makes of one.
template <class To>
struct Converted {
  std::vector<To> first, second;

  template <class From>
  Converted(Engine& engine, const std::string& entry, const std::vector<From>& values,
            std::size_t of_each = 1) {
    const std::size_t results = values.size() * of_each;
    const device::OwnedStream stream;
    const device::Buffer from = uploaded(values);
    const device::Buffer first_on_device(results * sizeof(To));
    const device::Buffer second_on_device(results * sizeof(To));
    void* from_data = from.data();
    void* first_data = first_on_device.data();
    void* second_data = second_on_device.data();
    auto count = static_cast<int>(values.size());
    const std::array<void*, 4> arguments = {&from_data, &count, &first_data, &second_data};
    const Kernel& kernel =
        engine.kernel({.name = "conversions.cu",
                       .text = conversion_source(),
                       .entry = entry,
                       .options = {"--std=c++17", "--device-as-default-execution-space"}});
    kernel.launch({.blocks_x = static_cast<unsigned>(count / 32 + 1), .threads_x = 32}, arguments,
                  stream.get());
    stream.synchronize();
    first = downloaded<To>(first_data, results);
    second = downloaded<To>(second_data, results);
  }
};

TEST_CASE("the kernels' conversions on the GPU are the host's, for every number and every tie") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  Engine engine({.cache = suite_cache()});
  const auto values = values_to_round();
  const Converted<std::uint16_t> rounded(engine, "convert", values);
  CHECK(wrong_conversions(values, rounded.first, rounded.second) == 0);
  const Converted<std::uint8_t> encoded(engine, "encode", values);
  CHECK(wrong_encodings(values, encoded.first, encoded.second) == 0);
  const auto patterns = every_pattern();
  const Converted<float> back(engine, "convert_back", patterns);
  CHECK(wrong_conversions_back(patterns, back.first, back.second) == 0);
}

TEST_CASE("the kernels on the GPU round a double to 16 bits once, not by way of a float32") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  Engine engine({.cache = suite_cache()});
  const Converted<std::uint16_t> float16s(engine, "round_doubles", beside_middles_of_float16());
  CHECK(wrong_beside_middles(float16s.first) == 0);
  const Converted<std::uint16_t> bfloat16s(engine, "round_doubles", beside_middles_of_bfloat16());
  CHECK(wrong_beside_middles(bfloat16s.second) == 0);
}

TEST_CASE("the kernels' elements on the GPU are what codes and words stand for") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  Engine engine({.cache = suite_cache()});
  const auto words = words_of_codes();
  const Converted<float> decoded(engine, "decode", words, elements_of_word);
  CHECK(wrong_decodings(words, decoded.first, decoded.second) == 0);
  const Converted<std::uint64_t> copied(engine, "convert_doubles", doubles());
  CHECK(copied.first == doubles());
  CHECK(copied.second == doubles());
}

}  // namespace
}  // namespace jitbag::test
