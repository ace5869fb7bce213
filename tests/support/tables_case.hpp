#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "forward_case.hpp"
#include "jitbag/strategy.hpp"
#include "jitbag/tables.hpp"
#include "jitbag/target.hpp"
#include "random.hpp"
#include "spec/arguments.hpp"

namespace jitbag::test {

/// All that decides a case of many tables.
struct TablesCaseOptions {
  TablesSpec spec;
  /// Of every table where bags are joined; else the most that one has.
  std::int64_t batch = 1;
  std::int64_t most_rows = 40;
  std::int64_t longest_bag = 8;  ///< CSR only
  std::uint64_t seed = 0;
};

/// A set of tables with inputs to run it on.
struct TablesCase {
  TablesSpec spec;                  ///< validated
  std::vector<ForwardCase> tables;  ///< those that are joined have no bags of their own
  std::vector<PlacedArray> joined;  ///< by Input: ids, offsets and weights, where they are joined
  std::int64_t batch = 0;           ///< of the largest table
  std::int64_t num_ids = 0;         ///< joined CSR bags

  [[nodiscard]] std::vector<ForwardArguments> arguments(
      const std::function<const void*(std::size_t table, Input)>& address) const;
  [[nodiscard]] JoinedArguments joined_arguments(
      const std::function<const void*(Input)>& address) const;
};

/// The same options give the same case, everywhere.
[[nodiscard]] TablesCase make_tables_case(const TablesCaseOptions& options);

/// A set of these tables, whose bags are all of the same number where they are to be joined.
[[nodiscard]] TablesCase make_tables_case(const TablesSpec& spec, std::vector<ForwardCase> tables);

/// Everything that a launch of a set writes to, in host memory, poison before it.
class TablesOutputs {
 public:
  explicit TablesOutputs(const TablesCase& tables_case);

  /// The arguments of a launch on host memory that writes here.
  [[nodiscard]] std::vector<ForwardArguments> tables();
  [[nodiscard]] JoinedArguments joined();

  /// Its arrays: of each table output and winners, then the joined output, if there is one.
  [[nodiscard]] std::vector<PlacedArray>& arrays() { return arrays_; }
  [[nodiscard]] const std::vector<PlacedArray>& arrays() const { return arrays_; }

  /// Compares every table with the oracle. Returns nothing, or one sentence.
  [[nodiscard]] std::string check();

  /// Nothing, or one sentence about the first array that does not have the same bits.
  [[nodiscard]] std::string difference_from(const TablesOutputs& other) const;

 private:
  /// The arguments without the outputs.
  [[nodiscard]] std::vector<ForwardArguments> inputs() const;
  [[nodiscard]] JoinedArguments joined_inputs() const;
  [[nodiscard]] PlacedArray& output(std::size_t table) { return arrays_[2 * table]; }
  [[nodiscard]] PlacedArray& winners(std::size_t table) { return arrays_[2 * table + 1]; }
  [[nodiscard]] std::string check_columns(const AloneTable& table) const;

  const TablesCase* case_;
  std::vector<PlacedArray> arrays_;
};

/// What BadIds::report must report.
[[nodiscard]] std::optional<BadInput> first_bad_input(const TablesCase& tables_case);

/// A set of kernels of the matrix, made to go together.
[[nodiscard]] TablesSpec random_tables(std::size_t count, TablesSpec::Bags bags,
                                       TablesSpec::Outputs outputs, Random& random);

/// Strategies of many shapes, with one block size.
[[nodiscard]] std::vector<Strategy> random_strategies(const TablesSpec& spec, const Target& target,
                                                      Random& random);

}  // namespace jitbag::test
