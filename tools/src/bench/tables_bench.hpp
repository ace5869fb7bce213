#pragma once

#include <vector>

#include "bench/options.hpp"
#include "bench/report.hpp"
#include "bench/result.hpp"
#include "bench/table_inputs.hpp"
#include "jitbag/device.hpp"

namespace jitbag::tools::bench {

/// What the launches of a set of tables came to.
struct TablesReport {
  TableInputs inputs;
  Tolerance limits = {};
  std::size_t rotating_sets = 0;
  double bytes_moved = 0;
  double floor_bytes = 0;
  double written_bytes = 0;  ///< of those: the output
  /// Of this GPU, measured in this run.
  struct Ceilings {
    double gather_gb_per_s = 0;  ///< reading random rows
    double copy_gb_per_s = 0;    ///< reading as much as is written
  };
  std::optional<Ceilings> ceilings = {};
  std::vector<Result> results = {};

  /// What the floor's bytes take: the output at the rate of a copy, with as many bytes of reading,
  /// and the rest of the reading at the rate of a gather.
  [[nodiscard]] std::optional<double> floor_us() const;
  /// The same as if writing cost no more than reading.
  [[nodiscard]] std::optional<double> floor_at_gather_us() const;
  [[nodiscard]] std::optional<double> share_of_floor(const Result& result) const;
};

/// Measures many tables in one launch; without a GPU every backend is unsupported.
[[nodiscard]] TablesReport measure_tables(const Options& options, const device::Info* gpu);

[[nodiscard]] Json to_json(const TablesReport& report, const Options& options,
                           const Machine& machine);
[[nodiscard]] std::string to_table(const TablesReport& report, const Options& options,
                                   const Machine& machine);

}  // namespace jitbag::tools::bench
