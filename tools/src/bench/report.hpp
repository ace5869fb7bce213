#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/result.hpp"
#include "jitbag/backward.hpp"
#include "output.hpp"

namespace jitbag::tools::bench {

/// What is the same for every shape of a run.
struct Machine {
  bool on_gpu = false;
  std::string device_name;
  std::optional<std::string> driver_version = {};
  std::optional<double> ceiling_gb_per_s = {};
};

/// The results of one shape.
struct ShapeReport {
  std::int64_t batch = 0;
  std::int64_t table_rows = 0;
  std::int64_t dim = 0;
  std::optional<std::int64_t> bag_size = {};  ///< nothing when bags differ
  std::optional<std::int64_t> padding_id = {};
  ForwardSpec spec;
  std::optional<BackwardSpec> gradient = {};  ///< with --training
  Tolerance limits = {};
  std::size_t rotating_sets = 0;
  std::vector<Result> results = {};
};

/// One document for one shape, and for a sweep one with all of them.
[[nodiscard]] Json to_json(const std::vector<ShapeReport>& shapes, const Options& options,
                           const Machine& machine);
/// A line for every shape and backend.
[[nodiscard]] std::string to_table(const std::vector<ShapeReport>& shapes, const Options& options,
                                   const Machine& machine);
/// With --training, a line for every part of a step, and one for the whole.
[[nodiscard]] std::string to_training_table(const std::vector<ShapeReport>& shapes,
                                            const Options& options, const Machine& machine);

/// What is said around a table: above it of all its shapes, below it why backends are unsupported.
[[nodiscard]] std::string table_heading(const std::vector<ShapeReport>& shapes,
                                        const Options& options, const Machine& machine);
[[nodiscard]] std::string table_reasons(const std::vector<ShapeReport>& shapes);

/// "-" for nothing.
[[nodiscard]] std::string table_cell(std::optional<double> value, int digits);

}  // namespace jitbag::tools::bench
