#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "jitbag/jitbag.hpp"

/// The GPU where there is one, else the CPU: memory that kernels reach, and launches that wait.
class Machine {
 public:
  Machine() : Machine(has_gpu()) {}
  explicit Machine(bool is_gpu) {
    if (!is_gpu) return;
    context_.emplace(0);
    stream_.emplace();
    engine_.emplace();
  }

  [[nodiscard]] static bool has_gpu() {
    try {
      return !jitbag::device::devices().empty();
    } catch (const jitbag::Error&) {
      return false;
    }
  }

  [[nodiscard]] bool is_gpu() const { return engine_.has_value(); }

  /// Of a GPU: for launches that do not wait.
  [[nodiscard]] jitbag::Engine& engine() { return *engine_; }
  [[nodiscard]] jitbag::Stream stream() const { return stream_->get(); }

  /// A copy of the values, which lives as long as the machine.
  template <class T>
  [[nodiscard]] T* put(const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    if (is_gpu()) {
      void* const copy = device_memory_.emplace_back(bytes).data();
      jitbag::device::copy_to_device(copy, values.data(), bytes);
      return static_cast<T*>(copy);
    }
    void* const copy = host_memory_.emplace_back(bytes).data();
    std::memcpy(copy, values.data(), bytes);
    return static_cast<T*>(copy);
  }

  /// After all that was launched.
  template <class T>
  [[nodiscard]] std::vector<T> get(const T* values, std::size_t count) const {
    std::vector<T> copy(count);
    if (is_gpu()) {
      stream_->synchronize();
      jitbag::device::copy_to_host(copy.data(), values, count * sizeof(T));
    } else {
      std::memcpy(copy.data(), values, count * sizeof(T));
    }
    return copy;
  }

  void forward(const jitbag::ForwardSpec& spec, const jitbag::ForwardArguments& arguments) {
    if (!is_gpu()) return jitbag::host::forward(spec, arguments);
    engine_->forward(spec).launch(arguments, stream_->get());
    finish();
  }

  void forward(const jitbag::TablesSpec& spec, std::span<const jitbag::ForwardArguments> tables,
               const jitbag::JoinedArguments& joined) {
    if (!is_gpu()) return jitbag::host::forward(spec, tables, joined);
    const jitbag::TablesKernel& kernel = engine_->tables(spec);
    const jitbag::TablesBinding binding = kernel.bind(tables);
    kernel.launch(binding, joined, stream_->get());
    finish();
  }

  void transpose(const jitbag::TransposeSpec& spec, jitbag::TransposeArguments arguments) {
    if (!is_gpu()) return jitbag::host::transpose(spec, arguments);
    const jitbag::TransposeKernel& kernel = engine_->transpose(spec);
    arguments.workspace_bytes = kernel.workspace_bytes(arguments);
    arguments.workspace =
        device_memory_.emplace_back(static_cast<std::size_t>(arguments.workspace_bytes)).data();
    kernel.launch(arguments, stream_->get());
    finish();
  }

  void quantise(const jitbag::ForwardSpec& spec, const jitbag::QuantiseArguments& arguments) {
    if (!is_gpu()) return jitbag::host::quantise(spec, arguments);
    engine_->quantiser(spec).launch(arguments, stream_->get());
    finish();
  }

 private:
  /// Throws what BadIds::report has found.
  void finish() {
    stream_->synchronize();
    engine_->check();
  }

  // In this order: the context outlives what was made in it.
  std::optional<jitbag::device::Context> context_;
  std::optional<jitbag::device::OwnedStream> stream_;
  std::optional<jitbag::Engine> engine_;
  std::vector<jitbag::device::Buffer> device_memory_;
  std::vector<std::vector<std::byte>> host_memory_;
};
