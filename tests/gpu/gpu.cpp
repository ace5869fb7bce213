#include "gpu.hpp"

#include <algorithm>
#include <stdexcept>

#include "catch.hpp"
#include "jitbag/error.hpp"
#include "support/caught.hpp"
#include "support/forward_matrix.hpp"

namespace jitbag::test {
namespace {

constexpr std::size_t guard_bytes = 512;

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

device::Buffer upload(const PlacedArray& array) {
  return uploaded(array.buffer);
}

std::size_t output_begin(const ForwardSpec& spec) {
  const std::int64_t bytes = size_of(spec.output_type);
  return guard_bytes + static_cast<std::size_t>(misalignment(spec, bytes) * bytes);
}

const std::byte* at(const device::Buffer& buffer, std::size_t offset) {
  return static_cast<const std::byte*>(buffer.data()) + offset;
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

DeviceCase::DeviceCase(const ForwardCase& forward_case)
    : case_(&forward_case),
      table_(upload(forward_case.table)),
      ids_(upload(forward_case.ids)),
      offsets_(upload(forward_case.offsets)),
      output_begin_(output_begin(forward_case.spec)) {
  std::vector<std::byte> nothing(output_begin_ + forward_case.output_bytes() + guard_bytes);
  poison(nothing);
  output_ = uploaded(nothing);
}

void DeviceCase::replace(const ForwardCase& forward_case) {
  case_ = &forward_case;
  const auto copy = [](const device::Buffer& to, const PlacedArray& from) {
    if (to.size() != from.buffer.size()) throw std::logic_error("The new case has other sizes.");
    device::copy_to_device(to.data(), from.buffer.data(), to.size());
  };
  copy(table_, forward_case.table);
  copy(ids_, forward_case.ids);
  copy(offsets_, forward_case.offsets);
  std::vector<std::byte> nothing(output_.size());
  poison(nothing);
  device::copy_to_device(output_.data(), nothing.data(), nothing.size());
}

ForwardArguments DeviceCase::arguments() const {
  ForwardArguments arguments;
  arguments.table = at(table_, case_->table.begin);
  arguments.num_rows = case_->num_rows;
  arguments.ids = at(ids_, case_->ids.begin);
  arguments.num_ids = case_->num_ids;
  arguments.offsets = at(offsets_, case_->offsets.begin);
  arguments.output = const_cast<std::byte*>(at(output_, output_begin_));
  arguments.batch = case_->batch;
  return arguments;
}

std::vector<std::byte> DeviceCase::output() const {
  return downloaded<std::byte>(at(output_, output_begin_), case_->output_bytes());
}

std::string DeviceCase::check() const {
  const auto all = downloaded<std::byte>(output_.data(), output_.size());
  const auto is_poison = [](std::byte byte) { return byte == std::byte{0xff}; };
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(output_begin_);
  const auto end = begin + static_cast<std::ptrdiff_t>(case_->output_bytes());
  if (!std::all_of(all.begin(), begin, is_poison) || !std::all_of(end, all.end(), is_poison)) {
    return "Something was written outside of the output.";
  }
  if (downloaded<std::byte>(ids_.data(), ids_.size()) != case_->ids.buffer) {
    return "The ids were written to.";
  }
  return check_output(*case_, std::span(all).subspan(output_begin_, case_->output_bytes()));
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
