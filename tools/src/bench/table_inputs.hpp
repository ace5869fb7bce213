#pragma once

#include <cstdint>
#include <vector>

#include "bench/floor.hpp"
#include "bench/numbers.hpp"
#include "bench/options.hpp"
#include "jitbag/tables.hpp"

namespace jitbag::tools::bench {

/// One table of a set and its part of the ids that all of them share.
struct TableInput {
  std::int64_t num_rows = 0;
  std::int64_t bag_size = 0;  ///< of ids that are made here
  std::int64_t first_id = 0;  ///< its place among the ids
  std::int64_t num_ids = 0;
  std::vector<std::int64_t> ids = {};      ///< real ones; empty: they are made
  std::vector<std::int64_t> offsets = {};  ///< of the real ones, [batch + 1]
  std::vector<RowPart> rows = {};

  /// First and last (exclusive) id of a bag, counted from the table's first.
  [[nodiscard]] std::int64_t bag_begin(std::int64_t bag) const {
    return offsets.empty() ? bag * bag_size : offsets[static_cast<std::size_t>(bag)];
  }
  [[nodiscard]] std::int64_t bag_end(std::int64_t bag) const { return bag_begin(bag + 1); }
};

/// The tables of one launch, their ids joined and their outputs side by side. No values are kept:
/// the device writes them, and the host computes those that it wants to see.
struct TableInputs {
  TablesSpec spec;  ///< validated
  std::vector<TableInput> tables = {};
  std::int64_t batch = 0;
  std::int64_t num_ids = 0;
  std::int64_t output_width = 0;  ///< of all tables
  std::uint64_t seed = 0;

  [[nodiscard]] bool is_csr() const {
    return std::holds_alternative<CsrBags>(spec.tables.front().bags);
  }
  [[nodiscard]] IntegerType id_type() const { return spec.tables.front().id_type; }
  [[nodiscard]] Numbers id_numbers(std::size_t table) const {
    return random_integers(id_type(), tables[table].num_rows);
  }
  [[nodiscard]] std::uint64_t id_stream(std::size_t table, std::size_t set) const;
  [[nodiscard]] std::uint64_t weight_stream(std::size_t set) const;
  /// Id number `position` of a table, in a set of ids.
  [[nodiscard]] std::int64_t id_at(std::size_t table, std::size_t set, std::int64_t position) const;
  /// [tables * batch + 1] for CSR bags.
  [[nodiscard]] std::vector<std::int64_t> joined_offsets() const;
  [[nodiscard]] std::int64_t output_bytes() const;
  /// Bytes of one set of ids, weights and output.
  [[nodiscard]] std::int64_t set_bytes() const;
  /// What a launch reads of each table, and the bytes of all else that it moves.
  [[nodiscard]] std::vector<Lookups> lookups() const;
  [[nodiscard]] double rest_bytes() const;
};

/// What --tables names. Throws UsageError, and Error for files of ids that cannot be used.
[[nodiscard]] TableInputs table_inputs(const Options& options);

}  // namespace jitbag::tools::bench
