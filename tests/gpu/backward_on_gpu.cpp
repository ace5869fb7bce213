#include "backward_on_gpu.hpp"

#include <vector>

namespace jitbag::test {
namespace {

/// A copy of a host array, at the same distance from a multiple of 16 bytes.
struct OnDevice {
  explicit OnDevice(const PlacedArray& array) : host(array), buffer(uploaded(array.buffer)) {}

  [[nodiscard]] void* data() const {
    return host.buffer.empty() ? nullptr : static_cast<std::byte*>(buffer.data()) + host.begin;
  }
  [[nodiscard]] PlacedArray now() const {
    PlacedArray array = host;
    array.buffer = downloaded<std::byte>(buffer.data(), buffer.size());
    return array;
  }

  PlacedArray host;
  device::Buffer buffer;
};

}  // namespace

std::string launch_and_check(const BackwardKernel& kernel, const BackwardCase& given,
                             const device::OwnedStream& stream) {
  const DeviceCase inputs(given.inputs);
  const OnDevice output_gradient(given.output_gradient);
  const OnDevice winners(given.winners);
  const OnDevice table(given.before.table);
  const OnDevice rows(given.before.rows);
  const OnDevice first_moment(given.before.first_moment);
  const OnDevice second_moment(given.before.second_moment);
  const OnDevice weights(given.before.weights);
  const device::Buffer count = uploaded(std::vector<SparseCount>{given.before.count});
  const device::Buffer parameters = uploaded(std::vector<OptimizerParameters>{given.parameters});
  GradientArrays unused = given.before;
  BackwardArguments arguments = given.host_arguments(unused);
  arguments.forward = inputs.arguments();
  arguments.forward.winners = winners.data();
  if (arguments.output_gradient != nullptr) arguments.output_gradient = output_gradient.data();
  arguments.table_gradient = table.data();
  arguments.updated_table = table.data();
  arguments.rows = rows.data();
  arguments.count = static_cast<SparseCount*>(count.data());
  arguments.first_moment = static_cast<float*>(first_moment.data());
  arguments.second_moment = static_cast<float*>(second_moment.data());
  arguments.weight_gradient = weights.data();
  arguments.parameters = static_cast<const OptimizerParameters*>(parameters.data());
  const std::int64_t bytes = kernel.workspace_bytes(arguments);
  const device::Buffer workspace = uploaded(std::vector<std::byte>(bytes, std::byte{0xcd}));
  arguments.workspace = workspace.data();
  arguments.workspace_bytes = bytes;
  kernel.launch(arguments, stream.get());
  stream.synchronize();
  return given.check({table.now(), rows.now(), first_moment.now(), second_moment.now(),
                      weights.now(), downloaded<SparseCount>(count.data(), 1).front()},
                     kernel.strategy().method);
}

}  // namespace jitbag::test
