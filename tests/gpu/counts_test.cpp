// Counts on the device: one captured launch serves every batch up to its capacity.
#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

constexpr std::int64_t capacity = 400;

ForwardSpec spec_of(const BagLayout& bags, Pooling pooling) {
  ForwardSpec spec;
  spec.dim = 40;
  spec.bags = bags;
  spec.pooling = pooling;
  spec.padding_id = 0;
  spec.counts = Counts::on_device;
  return spec;
}

/// Makes a case's arrays as large as those of another, so that they can be copied over them. What
/// there is more of is poison, and beyond the counts.
void grow(ForwardCase& forward_case, const ForwardCase& as) {
  forward_case.batch = as.batch;
  forward_case.num_ids = as.num_ids;
  for (std::size_t i = 0; i < input_arrays; ++i) {
    PlacedArray& array = forward_case.inputs[i];
    const PlacedArray& larger = as.inputs[i];
    REQUIRE(array.buffer.size() <= larger.buffer.size());
    array.buffer.resize(larger.buffer.size(), std::byte{0xff});
    array.bytes = larger.bytes;
  }
}

TEST_CASE("a captured launch reads the numbers of bags and ids anew at each replay") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const std::vector<BagLayout> layouts{FixedBags{6}, CsrBags{},
                                       CsrBags{IntegerType::int32, OffsetsEnd::implied}};
  for (const BagLayout& bags : layouts) {
    for (const Pooling pooling : {Pooling::mean, Pooling::none}) {
      const ForwardSpec spec = spec_of(bags, pooling);
      INFO(to_text(spec));
      const auto options = [&](std::int64_t batch) {
        return ForwardCaseOptions{
            .spec = spec, .batch = batch, .num_rows = 500, .longest_bag = 8, .seed = seed()};
      };
      ForwardCaseOptions with_room = options(capacity);
      with_room.longest_bag = 11;
      const ForwardCase largest = make_forward_case(with_room);
      DeviceCase on_device(largest);
      const ForwardKernel& kernel = engine.forward(spec);
      const device::Graph graph(stream.get(),
                                [&] { kernel.launch(on_device.arguments(), stream.get()); });
      for (const std::int64_t batch :
           {capacity, std::int64_t{0}, std::int64_t{1}, std::int64_t{37}, capacity - 1, capacity}) {
        INFO("batch " << batch);
        ForwardCase now = make_forward_case(options(batch));
        grow(now, largest);
        // Without this it may be more, which without spare bags means as many.
        auto* const counts = reinterpret_cast<std::int64_t*>(now.input(Input::counts).data());
        counts[0] = batch;
        on_device.replace(now);
        graph.launch(stream.get());
        stream.synchronize();
        CHECK(on_device.check() == "");
      }
    }
  }
}

}  // namespace
}  // namespace jitbag::test
