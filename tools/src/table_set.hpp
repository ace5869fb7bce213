#pragma once

#include <string>
#include <vector>

#include "jitbag/tables.hpp"
#include "json/value.hpp"
#include "kernel_flags.hpp"

namespace jitbag::tools {

inline constexpr std::size_t most_tables = 100'000;

/// Tables of one launch, as JSON says them.
struct TableSet {
  /// Files with the ids and offsets of one table; empty: there are none.
  struct IdFiles {
    std::string indices;
    std::string offsets;
  };
  TablesSpec spec;
  std::vector<IdFiles> id_files;  ///< one for each table
};

/// The names that an object with `tables` may have: beside these what stands for all the tables.
[[nodiscard]] std::vector<std::string> table_set_names();

/// Reads `tables`, each an object with the names of one table and a count. What a table leaves out
/// is as in the object around it, and else as the flags say, but dim and bag size must be given.
/// Throws UsageError; the specs are not validated.
[[nodiscard]] TableSet read_tables(const JsonObject& object, const KernelFlags& otherwise);

}  // namespace jitbag::tools
