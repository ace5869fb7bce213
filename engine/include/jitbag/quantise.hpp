#pragma once

#include <cstdint>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag {

/// What a quantiser works on: device pointers for Quantiser, host pointers for host::quantise.
struct QuantiseArguments {
  const float* values = nullptr;  ///< [num_rows, dim], without gaps
  std::int64_t num_rows = 0;
  void* table = nullptr;   ///< rows as ForwardSpec::row_scale and row_stride say
  void* scales = nullptr;  ///< RowScale::Place::apart: [num_rows], with bias [num_rows, 2]
};

/// Makes quantised tables on the GPU: of the spec only dim, table_type, row_scale, row_stride and
/// alignment count. The same bits as host::quantise. A row with a NaN or an infinite value gets
/// NaN as its scale, so that what is pooled from it is NaN; one without a scale gets codes of 0.
class Quantiser {
 public:
  Quantiser(Kernel kernel, const ForwardSpec& spec);

  [[nodiscard]] const Artifact& artifact() const noexcept { return kernel_.artifact(); }

  /// Enqueues the kernel; returns before it runs. Throws Error: invalid_argument, device_failed.
  void launch(const QuantiseArguments& arguments, Stream stream) const;

 private:
  Kernel kernel_;
  ForwardSpec spec_;
};

}  // namespace jitbag
