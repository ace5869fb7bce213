#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"
#include "jitbag/strategy.hpp"

namespace jitbag {

/// Many tables in one launch: each with its own dim, types, pooling, bags and number of rows. One
/// kernel is generated for the set, in which each table has the strategy that fits it.
struct TablesSpec {
  enum class Bags : std::uint8_t {
    /// Each table has ids, offsets and weights of its own, and a batch of its own.
    separate,
    /// One array of ids (and one of weights) has those of all tables, table after table, and all
    /// have the same batch. CSR: one array of offsets, in which bag b of table t is number
    /// t * batch + b, as FBGEMM's table-batched operators take it; all tables have the same
    /// CsrBags. Fixed: the ids are [batch, bag size] of the first table, then of the second...
    joined,
  };
  enum class Outputs : std::uint8_t {
    separate,      ///< each table has an output of its own
    side_by_side,  ///< output [batch, sum of the tables' widths], in the order of the tables
  };

  /// At least one. Counts::on_device, `end`s and winners are each table's own. Side by side, their
  /// output types are the same, their output strides 0 and none is without pooling.
  std::vector<ForwardSpec> tables;
  Bags bags = Bags::separate;
  Outputs outputs = Outputs::separate;
  /// What is expected of each table, for the schedule alone: neither is a limit. Empty, or one for
  /// each table.
  struct Expected {
    std::int64_t num_rows = 0;  ///< 0: unknown
    double bag_size = 0;        ///< of CSR bags, on average; 0: unknown
    bool operator==(const Expected&) const = default;
  };
  std::vector<Expected> expected = {};

  bool operator==(const TablesSpec&) const = default;
};

/// Throws Error(invalid_argument) that names the table and the field.
[[nodiscard]] TablesSpec validated(TablesSpec spec);

[[nodiscard]] std::string to_text(const TablesSpec& spec);

/// What all tables have in common at a launch, where the spec joins it; the rest is ignored.
struct JoinedArguments {
  const void* ids = nullptr;      ///< [num_ids]
  std::int64_t num_ids = 0;       ///< CSR only
  const void* offsets = nullptr;  ///< CSR only: [tables * batch + 1], or [tables * batch]
  const void* weights = nullptr;  ///< [num_ids]
  void* output = nullptr;         ///< [batch, sum of widths]
  std::int64_t batch = 0;         ///< joined bags: of every table
};

/// One table of a set, by itself.
struct AloneTable {
  ForwardSpec spec;
  ForwardArguments arguments;
};

/// What each table of the set is by itself: the definition of the set. Reads nothing that pointers
/// point to. Throws Error(invalid_argument).
[[nodiscard]] std::vector<AloneTable> alone(const TablesSpec& spec,
                                            std::span<const ForwardArguments> tables,
                                            const JoinedArguments& joined);

class Reports;

/// The addresses of a set's tables, in device memory, as its kernel reads them. Belongs to the
/// caller; must outlive the launches that use it.
class TablesBinding {
 public:
  struct State;
  explicit TablesBinding(std::unique_ptr<State> state);
  TablesBinding(TablesBinding&&) noexcept;
  TablesBinding& operator=(TablesBinding&&) noexcept;
  ~TablesBinding();
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// A kernel for a set of tables.
class TablesKernel {
 public:
  TablesKernel(Kernel kernel, TablesSpec spec, std::vector<Strategy> strategies,
               std::optional<std::int64_t> expected_batch, Reports& reports);

  [[nodiscard]] const TablesSpec& spec() const noexcept { return spec_; }
  /// One for each table.
  [[nodiscard]] const std::vector<Strategy>& strategies() const noexcept { return strategies_; }
  [[nodiscard]] const Artifact& artifact() const noexcept { return kernel_.artifact(); }

  /// Copies the addresses of what the spec does not join (at least the tables) to the device: one
  /// ForwardArguments for each table. Allocates and synchronises; once for each set of addresses,
  /// not for each launch. Throws Error: invalid_argument, device_failed.
  [[nodiscard]] TablesBinding bind(std::span<const ForwardArguments> tables) const;

  /// Enqueues the kernel; returns before it runs, allocates nothing and may be captured into a
  /// graph. Throws as ForwardKernel::launch.
  void launch(const TablesBinding& binding, const JoinedArguments& joined, Stream stream) const;

 private:
  Kernel kernel_;
  TablesSpec spec_;
  std::vector<Strategy> strategies_;
  std::optional<std::int64_t> expected_batch_;
  Reports* reports_;
};

}  // namespace jitbag
