#include "gpu.hpp"

#include <stdexcept>

#include "catch.hpp"
#include "jitbag/error.hpp"
#include "support/caught.hpp"
#include "support/check_outputs.hpp"
#include "support/forward_matrix.hpp"

namespace jitbag::test {
namespace {

/// Why there is no GPU to use; empty where there is one.
const std::string& missing_gpu() {
  static const std::string reason = [] {
    std::string none = "there are no devices";
    const std::string problem = caught([&] {
      if (!device::devices().empty()) none.clear();
    });
    return problem == "nothing" ? none : problem;
  }();
  return reason;
}

/// Null where the host has no array.
void* address(const device::Buffer& buffer, const PlacedArray& array) {
  return array.buffer.empty() ? nullptr : static_cast<std::byte*>(buffer.data()) + array.begin;
}

}  // namespace

bool gpu_is_here() {
  if (missing_gpu().empty()) return true;
  WARN("skipped: no GPU: " << missing_gpu());
  return false;
}

bool dependent_launch_is_here() {
  if (!gpu_is_here()) return false;
  if (gpu_target().has_dependent_launch()) return true;
  WARN("left out: " << to_text(gpu_target()) << " has no dependent launch");
  return false;
}

Target gpu_target() {
  return device::devices().front().target;
}

void* DeviceCase::Output::data() const {
  return address(device, host);
}

PlacedArray DeviceCase::Output::downloaded() const {
  PlacedArray array = host;
  array.buffer = test::downloaded<std::byte>(device.data(), device.size());
  return array;
}

void DeviceCase::Output::poison() {
  device::copy_to_device(device.data(), host.buffer.data(), device.size());
}

DeviceCase::Output DeviceCase::make_output(std::size_t bytes, std::int64_t alignment,
                                           std::int64_t element) {
  Output output;
  output.host =
      PlacedArray(bytes, static_cast<std::size_t>(misalignment(alignment, element) * element));
  output.device = uploaded(output.host.buffer);
  return output;
}

DeviceCase::DeviceCase(const ForwardCase& forward_case)
    : case_(&forward_case),
      output_(make_output(forward_case.output_bytes(), forward_case.spec.output_alignment,
                          size_of(forward_case.spec.output_type))),
      winners_(make_output(forward_case.winners_bytes(), size_of(forward_case.spec.id_type),
                           size_of(forward_case.spec.id_type))) {
  for (std::size_t i = 0; i < input_arrays; ++i) {
    inputs_[i] = uploaded(forward_case.inputs[i].buffer);
  }
}

void DeviceCase::replace(const ForwardCase& forward_case) {
  case_ = &forward_case;
  for (std::size_t i = 0; i < input_arrays; ++i) {
    const std::vector<std::byte>& buffer = forward_case.inputs[i].buffer;
    if (inputs_[i].size() != buffer.size()) throw std::logic_error("The new case has other sizes.");
    device::copy_to_device(inputs_[i].data(), buffer.data(), buffer.size());
  }
  output_.poison();
  winners_.poison();
}

ForwardArguments DeviceCase::arguments() const {
  ForwardArguments arguments = case_->arguments([this](Input which) {
    return address(inputs_[static_cast<std::size_t>(which)], case_->input(which));
  });
  arguments.output = output_.data();
  arguments.winners = winners_.data();
  return arguments;
}

std::vector<std::byte> DeviceCase::output() const {
  return downloaded<std::byte>(output_.data(), case_->output_bytes());
}

std::string DeviceCase::check() const {
  PlacedArray output = output_.downloaded();
  PlacedArray winners = winners_.downloaded();
  if (!output.surroundings_are_poison() || !winners.surroundings_are_poison()) {
    return "Something was written outside of the outputs.";
  }
  for (std::size_t i = 0; i < input_arrays; ++i) {
    const auto now = downloaded<std::byte>(inputs_[i].data(), inputs_[i].size());
    if (now != case_->inputs[i].buffer) return "An input was written to.";
  }
  ForwardArguments arguments = case_->host_arguments();
  arguments.output = output.data();
  arguments.winners = winners.data();
  return check_outputs(case_->spec, arguments);
}

std::string launch_and_check(const ForwardKernel& kernel, const ForwardCaseOptions& options,
                             const device::OwnedStream& stream) {
  const ForwardCase forward_case = make_forward_case(options);
  const DeviceCase on_device(forward_case);
  kernel.launch(on_device.arguments(), stream.get());
  stream.synchronize();
  return on_device.check();
}

}  // namespace jitbag::test
