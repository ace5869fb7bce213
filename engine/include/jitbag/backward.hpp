#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"
#include "jitbag/optimizer.hpp"

/// The gradient of an embedding bag.
///
/// With g the gradient of a bag's output, a counted id of weight w gives its row
///   sum: w * g;  mean: w * g / count;  mean_by_weights: w * g / sum(w);
///   mean_by_length: w * g / mean_length;  mean_by_sqrt: w * g / sqrt(count);
///   max: the elements of g in whose columns it won;  none: the g of its own row of the output;
/// and several poolings the sum of theirs. A row's gradient is the sum over all ids that name it,
/// in float32 or wider, rounded once (float32 and float64 that are added to in memory, and tables
/// that plain_sgd steps there: at each addition). Padding and bad ids have none.
namespace jitbag {

/// Added to what is there: gradient[num_rows, dim]. To begin from zero is the caller's choice.
struct DenseGradient {
  DataType type = DataType::float32;
  /// Elements from row to row; 0 means no gap.
  std::int64_t row_stride = 0;
  /// Bytes that divide its address, as ForwardSpec::alignment; 0 means the size of an element.
  std::int64_t alignment = 16;
  bool operator==(const DenseGradient&) const = default;
};

/// Elements of a dense gradient that have one set to 0 (whole rows; of a maximum alone, what its
/// winners won), in place of all of it: what a buffer that is kept from step to step needs after
/// its last use. Reads no output_gradient.
struct ClearedGradient {
  DenseGradient of;
  bool operator==(const ClearedGradient&) const = default;
};

/// Only the rows that a counted id names, each once, ascending: their numbers and gradients.
struct SparseGradient {
  DataType type = DataType::float32;
  bool operator==(const SparseGradient&) const = default;
};

/// An optimizer's step on the rows that a counted id names. Their gradient itself is stored
/// nowhere.
struct AppliedGradient {
  Optimizer optimizer = Optimizer::sgd;
  /// For tables of 16 bits: rounds up or down at random, so that the mean is right (Gupta et al.
  /// 2015). The random numbers are Philox4x32-10's (Salmon et al. 2011) of seed, step, row and
  /// column: the same on every run.
  bool stochastic_rounding = false;
  bool operator==(const AppliedGradient&) const = default;
};

/// What is made of the table's gradient; std::monostate: nothing.
using TableGradient =
    std::variant<std::monostate, DenseGradient, ClearedGradient, SparseGradient, AppliedGradient>;

/// What to compute: the gradients of `forward`, whose output's gradient has forward.output_type,
/// output_stride and output_alignment.
struct BackwardSpec {
  /// Of a float table where the gradient is applied. With Pooling::max it must have winners. Must
  /// have no `end`.
  ForwardSpec forward;
  TableGradient table_gradient = DenseGradient{};
  /// The gradient of the weights, where it is asked for; of the rows as they are before a step.
  /// Products are added up in float32, or in float64 where the table, the output or this is
  /// float64, and rounded once.
  std::optional<DataType> weight_gradient_type = {};
  /// The same bits on every run. The CPU's always are, and so is the gradient of the weights, but
  /// for ids that are in two bags.
  bool deterministic = false;

  bool operator==(const BackwardSpec&) const = default;
};

/// As validated(ForwardSpec), also for what backward adds.
[[nodiscard]] BackwardSpec validated(BackwardSpec spec);

/// One line that says the whole spec, such as
/// "gradient=dense:float32 of embedding_bag mean dim=64 ...".
[[nodiscard]] std::string to_text(const BackwardSpec& spec);

/// How many rows a sparse gradient has.
struct SparseCount {
  std::int64_t rows = 0;     ///< that were written
  std::int64_t missing = 0;  ///< that were left out, the last ones, since `capacity` was too small
};

/// What backward works on. Those that the spec has no use for are ignored.
struct BackwardArguments {
  /// As forward had them. `winners` is read. `output` is not used, and neither is `table` but for
  /// the gradient of the weights.
  ForwardArguments forward;
  const void* output_gradient = nullptr;  ///< as ForwardArguments::output
  /// Dense: [num_rows, dim], added to, or cleared. Sparse: [capacity, dim], written.
  void* table_gradient = nullptr;
  std::int64_t capacity = 0;      ///< sparse: rows that there is room for
  void* rows = nullptr;           ///< sparse: [capacity] of the ids' type
  SparseCount* count = nullptr;   ///< sparse
  void* updated_table = nullptr;  ///< applied: the table that takes the step
  /// Applied: [num_rows, moments_of(...).first], at a multiple of 16 bytes as far as rows of floats
  /// are; so is a sparse gradient.
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  const OptimizerParameters* parameters = nullptr;  ///< applied
  /// [num_ids], written for every id of a bag: 0 where it is not counted. Ids outside every bag are
  /// left as they are; where offsets decrease and bags overlap, that of any one of them is written.
  void* weight_gradient = nullptr;
  /// On the GPU: BackwardKernel::workspace_bytes of memory at a multiple of 256 bytes, of whatever
  /// content, for nobody else until the launch is done.
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
};

/// How the gradient of the table is computed on the GPU.
enum class BackwardMethod : std::uint8_t {
  /// Each id is an addition (or a store) in memory, in whatever order they arrive: for dense and
  /// sparse gradients of float32 and float64, tables of those that are stepped by plain_sgd, for
  /// clearing, and where nothing is made of the table's gradient. One launch, no workspace; for a
  /// sparse gradient two more, which mark the rows that ids name and number them, a workspace of
  /// three bits for each row of the table, and at most 2^32 - 2 rows. Beyond 2^27 rows sort is
  /// faster for small batches.
  scatter,
  /// As scatter for a dense gradient, but a block brings its bags' ids together by row first, and
  /// adds what they give a row at once: for skewed ids, which would wait for each other. A maximum
  /// is added id by id, and has no use for it alone.
  merge,
  /// The ids are sorted by row, on the bits alone that num_rows takes; then each row is summed and
  /// written once. The same bits on every run. Several launches, and a workspace. At most 2^30 ids,
  /// 2^31 - 1 bags and 2^32 - 2 rows; rows that are stepped have 2048 vectors of the strategy's
  /// vector_bytes at most. Where offsets decrease and bags overlap, an id is the last one's.
  sort,
};

/// Beside the method, how lanes are laid over rows: for scatter as in forward; for merge and sort
/// `rows_in_flight` are the uses that a group sums together, and bag_lanes is 1; for merge
/// bags_per_group says how many bags a block has, 256 at most; for sort it is 1. The gradient of
/// the weights is a launch before those, which follows from the spec; only its launch mode is the
/// shape's.
struct BackwardStrategy {
  BackwardMethod method = BackwardMethod::scatter;
  Strategy shape = {};
  bool operator==(const BackwardStrategy&) const = default;
};

/// The kernels of a gradient. They allocate nothing, read nothing back to the host, and may be
/// captured into a graph.
class BackwardKernel {
 public:
  /// `kernels` are those of specialise(), in their order.
  BackwardKernel(std::vector<Kernel> kernels, const BackwardSpec& spec,
                 const BackwardStrategy& strategy, Reports& reports);

  [[nodiscard]] const BackwardSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const BackwardStrategy& strategy() const noexcept { return strategy_; }
  [[nodiscard]] std::span<const Kernel> kernels() const noexcept { return kernels_; }

  /// What a launch with arguments of this batch, num_ids and num_rows needs. Ask for each size that
  /// is launched: fewer ids are cut into shorter slices, and may need more. Reads no pointers.
  [[nodiscard]] std::int64_t workspace_bytes(const BackwardArguments& arguments) const;

  /// As ForwardKernel::launch.
  void launch(const BackwardArguments& arguments, Stream stream) const;

 private:
  std::vector<Kernel> kernels_;
  BackwardSpec spec_;
  ForwardSpec gradient_table_;  ///< what rows' gradients go to, as a table
  BackwardStrategy strategy_;
  std::optional<Strategy> weight_shape_;  ///< of the kernel of the weights' gradient
  Reports* reports_;
};

/// What is known of the ids that are to come: hints for the built-in rule.
struct ExpectedIds {
  std::optional<std::int64_t> batch = {};
  /// How large a part of the ids that count names the row which most of them name, from 0 to 1.
  std::optional<double> top_share = {};
};

/// The built-in rule for kernels of the GPU: scatter where it can, merge where ids are known to
/// repeat or many, else sort. A sparse gradient is scattered where few ids are expected that do not
/// repeat, else sorted.
[[nodiscard]] BackwardStrategy default_strategy(const BackwardSpec& spec, const Target& target,
                                                const ExpectedIds& expected = {});

/// The same for one method.
[[nodiscard]] BackwardStrategy default_strategy(const BackwardSpec& spec, BackwardMethod method,
                                                const Target& target,
                                                std::optional<std::int64_t> expected_batch = {});

/// Throws Error(invalid_argument) that says which field cannot work for this spec and target.
void validate(const BackwardStrategy& strategy, const BackwardSpec& spec, const Target& target);

/// "sort vector=16B ...".
[[nodiscard]] std::string to_text(const BackwardStrategy& strategy);

/// Reads what to_text writes; the method comes first. Throws Error(invalid_argument).
[[nodiscard]] BackwardStrategy parse_backward_strategy(std::string_view text);

}  // namespace jitbag
