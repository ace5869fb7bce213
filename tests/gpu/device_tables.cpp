#include "device_tables.hpp"

#include <stdexcept>

namespace jitbag::test {
namespace {

/// Null where the host has no array.
void* address(const device::Buffer& buffer, const PlacedArray& array) {
  return array.buffer.empty() ? nullptr : static_cast<std::byte*>(buffer.data()) + array.begin;
}

void copy(const device::Buffer& to, const PlacedArray& from) {
  if (to.size() != from.buffer.size()) throw std::logic_error("The new case has other sizes.");
  device::copy_to_device(to.data(), from.buffer.data(), to.size());
}

}  // namespace

DeviceTables::DeviceTables(const TablesCase& tables_case)
    : case_(&tables_case), poison_(tables_case) {
  for (const ForwardCase& table : tables_case.tables) {
    Inputs& inputs = inputs_.emplace_back();
    for (std::size_t i = 0; i < input_arrays; ++i) inputs[i] = uploaded(table.inputs[i].buffer);
  }
  for (const PlacedArray& array : tables_case.joined) joined_.push_back(uploaded(array.buffer));
  for (const PlacedArray& array : poison_.arrays()) outputs_.push_back(uploaded(array.buffer));
}

std::vector<ForwardArguments> DeviceTables::arguments() const {
  auto made = case_->arguments([&](std::size_t t, Input input) {
    return address(inputs_[t][static_cast<std::size_t>(input)], case_->tables[t].input(input));
  });
  for (std::size_t t = 0; t < made.size(); ++t) {
    made[t].output = address(outputs_[2 * t], poison_.arrays()[2 * t]);
    made[t].winners = address(outputs_[2 * t + 1], poison_.arrays()[2 * t + 1]);
  }
  return made;
}

JoinedArguments DeviceTables::joined() const {
  JoinedArguments made = case_->joined_arguments([&](Input input) {
    const auto i = static_cast<std::size_t>(input);
    return address(joined_[i], case_->joined[i]);
  });
  if (case_->spec.outputs == TablesSpec::Outputs::side_by_side) {
    made.output = address(outputs_.back(), poison_.arrays().back());
  }
  return made;
}

void DeviceTables::replace(const TablesCase& tables_case) {
  case_ = &tables_case;
  for (std::size_t t = 0; t < inputs_.size(); ++t) {
    for (std::size_t i = 0; i < input_arrays; ++i) {
      copy(inputs_[t][i], tables_case.tables[t].inputs[i]);
    }
  }
  for (std::size_t i = 0; i < joined_.size(); ++i) copy(joined_[i], tables_case.joined[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i) copy(outputs_[i], poison_.arrays()[i]);
}

TablesOutputs DeviceTables::outputs() const {
  TablesOutputs outputs(*case_);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    std::vector<std::byte>& buffer = outputs.arrays()[i].buffer;
    buffer = downloaded<std::byte>(outputs_[i].data(), outputs_[i].size());
  }
  return outputs;
}

}  // namespace jitbag::test
