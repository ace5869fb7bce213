#pragma once

#include <cstdint>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

/// Embedding bags without a GPU: the same spec and arguments, with host pointers.
namespace jitbag::host {

/// Computes the spec on the CPU: bags over `threads` threads (0: one for each core), rows
/// vectorised, float16 converted by F16C where the processor has it; sums in float32. Throws Error:
/// invalid_argument as ForwardKernel::launch, and bad_id, after all outputs are written, for the
/// lowest position with a bad id under BadIds::report.
void forward(const ForwardSpec& spec, const ForwardArguments& arguments, int threads = 0);

/// The oracle: the definition of the operator, in float64, one bag after the other. Writes
/// `expected[batch, dim]` and, where `magnitudes` is not null, for every element the sum of |row
/// element| over the counted rows divided by their number, from which a tolerance follows. Under
/// BadIds::trust a bad id throws Error(bad_id).
void oracle(const ForwardSpec& spec, const ForwardArguments& arguments, double* expected,
            double* magnitudes = nullptr);

/// Conversions that round to nearest even, as the GPU's do; used by tests and tools to make tables.
[[nodiscard]] std::uint16_t float16_from(float value);
[[nodiscard]] float float_from_float16(std::uint16_t bits);
[[nodiscard]] std::uint16_t bfloat16_from(float value);
[[nodiscard]] float float_from_bfloat16(std::uint16_t bits);

}  // namespace jitbag::host
