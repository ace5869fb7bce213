#include <string>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

ForwardCaseOptions options(const BagLayout& bags, std::uint64_t number) {
  ForwardCaseOptions made;
  made.spec.dim = 64;
  made.spec.bags = bags;
  made.spec.table_type = DataType::float16;
  made.spec.padding_id = 0;
  made.batch = 500;
  made.num_rows = 1000;
  made.seed = seed() + number;
  return made;
}

TEST_CASE("a launch is captured into a graph and replayed with other ids in the same buffers") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  for (const std::int64_t bag : {1, 4, 33}) {
    const ForwardCase first = make_forward_case(options(FixedBags{bag}, 0));
    const ForwardKernel& kernel = engine.forward(first.spec);
    DeviceCase on_device(first);
    const device::Graph graph(stream.get(),
                              [&] { kernel.launch(on_device.arguments(), stream.get()); });
    for (std::uint64_t replay = 0; replay < 5; ++replay) {
      const ForwardCase other = make_forward_case(options(FixedBags{bag}, replay));
      on_device.replace(other);
      graph.launch(stream.get());
      stream.synchronize();
      CHECK(on_device.check() == "");
    }
  }
}

}  // namespace
}  // namespace jitbag::test
