#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "jitbag/backward.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"
#include "jitbag/quantise.hpp"
#include "jitbag/tables.hpp"
#include "jitbag/transpose.hpp"

/// Embedding bags without a GPU: the same spec and arguments, with host pointers.
namespace jitbag::host {

/// Computes the spec on the CPU: bags over `threads` threads (0: one for each core), rows
/// vectorised, float16 converted by F16C where the processor has it; sums in float32, in float64
/// for a float64 table. Throws Error: invalid_argument as ForwardKernel::launch and for a spec with
/// an `end`, which is CUDA; and, after all outputs are written, bad_id or bad_offset for the first
/// bag that has one under BadIds::report.
void forward(const ForwardSpec& spec, const ForwardArguments& arguments, int threads = 0);

/// The same for many tables, one after the other.
void forward(const TablesSpec& spec, std::span<const ForwardArguments> tables,
             const JoinedArguments& joined, int threads = 0);

/// The gradients, with host pointers, by a stable sort of the ids by row. The same bits for any
/// number of threads. Sums are float32, float64 where the table, the output or a gradient is.
/// Errors as forward's. Under an error of kind bad_id or bad_offset the gradients are written all
/// the same.
void backward(const BackwardSpec& spec, const BackwardArguments& arguments, int threads = 0);

/// The ids of bags by row, with host pointers, on the calling thread. Errors as forward's; under
/// one of kind bad_id or bad_offset all is written all the same.
void transpose(const TransposeSpec& spec, const TransposeArguments& arguments);

/// The oracle: the definition of the operator, in float64, one bag after the other. Writes
/// `expected[output elements]`, without gaps whatever the output stride, and, where `magnitudes` is
/// not null, for every element the same pooling of |weight * element|, from which a tolerance
/// follows (for a maximum: |the largest element|), and, where `winners` is not null, the ids that
/// won, [batch, dim]. Elements that the operator leaves as they are stay as they are. Ignores
/// `spec.end`. Under BadIds::trust bad input throws Error(bad_id) or Error(bad_offset).
void oracle(const ForwardSpec& spec, const ForwardArguments& arguments, double* expected,
            double* magnitudes = nullptr, std::int64_t* winners = nullptr);

/// What a gradient is compared with.
struct OracleGradients {
  /// Of an element, and the same sum of |terms|, from which a tolerance follows.
  struct Element {
    double value = 0;
    double magnitude = 0;
  };
  std::map<std::int64_t, std::vector<Element>> rows;  ///< [dim], of the rows that have a gradient
  std::vector<Element> weights;  ///< one for each id; 0 where it is not counted
};

/// The gradients by their definition, in float64, one bag after the other: of the table, and, where
/// the spec asks for it, of the weights. Reads what host::backward reads, and no optimizer's
/// parameters. What is cleared has a magnitude over 0. Under BadIds::trust bad input throws as in
/// oracle().
[[nodiscard]] OracleGradients oracle_gradients(const BackwardSpec& spec,
                                               const BackwardArguments& arguments);

/// Writes a quantised table: codes, scales and biases of `num_rows` rows of `spec.dim` values, as
/// the spec lays them out. With a bias a row's range is that of its values, from the smallest one
/// (the bias) to the largest; without one it is symmetric. Codes are rounded to nearest even.
/// Bytes of a row that hold nothing are left as they are. NaN and infinite values are an
/// Error(invalid_argument) that names the row. The same bits as Quantiser on the GPU.
void quantise(const ForwardSpec& spec, const QuantiseArguments& arguments, int threads = 0);

/// Conversions that round to nearest even, as the GPU's do; used by tests and tools to make tables.
[[nodiscard]] std::uint16_t float16_from(float value);
[[nodiscard]] float float_from_float16(std::uint16_t bits);
[[nodiscard]] std::uint16_t bfloat16_from(float value);
[[nodiscard]] float float_from_bfloat16(std::uint16_t bits);
/// Beyond the largest number e4m3 saturates, as the GPU's conversion with satfinite does; so does
/// e5m2. NaN stays NaN.
[[nodiscard]] std::uint8_t float8_e4m3_from(float value);
[[nodiscard]] float float_from_float8_e4m3(std::uint8_t bits);
[[nodiscard]] std::uint8_t float8_e5m2_from(float value);
[[nodiscard]] float float_from_float8_e5m2(std::uint8_t bits);

}  // namespace jitbag::host
