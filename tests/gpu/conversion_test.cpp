#include <array>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/conversion_kernel.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

template <class From, class To>
struct Converted {
  std::vector<To> float16s, bfloat16s;

  Converted(Engine& engine, const std::string& entry, const std::vector<From>& values) {
    const device::OwnedStream stream;
    const device::Buffer from = uploaded(values);
    const device::Buffer first(values.size() * sizeof(To));
    const device::Buffer second(values.size() * sizeof(To));
    void* from_data = from.data();
    void* first_data = first.data();
    void* second_data = second.data();
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
    float16s = downloaded<To>(first.data(), values.size());
    bfloat16s = downloaded<To>(second.data(), values.size());
  }
};

TEST_CASE("the kernels' conversions on the GPU are the host's, for every number and every tie") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  Engine engine({.cache = suite_cache()});
  const auto values = values_to_round();
  const Converted<float, std::uint16_t> rounded(engine, "convert", values);
  CHECK(wrong_conversions(values, rounded.float16s, rounded.bfloat16s) == 0);
  const auto patterns = every_pattern();
  const Converted<std::uint16_t, float> back(engine, "convert_back", patterns);
  CHECK(wrong_conversions_back(patterns, back.float16s, back.bfloat16s) == 0);
}

}  // namespace
}  // namespace jitbag::test
