#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"

namespace jitbag::tools::bench {

/// What the command line of `jitbag bench` says, with its defaults.
struct Options {
  std::string operator_name = "embedding_bag_mean";
  std::string device = "auto";
  std::int64_t batch = 8;
  std::int64_t vocab_size = 1'000'000;
  std::string dims = "64";
  std::string bag_sizes = "4";
  double padding_prob = 0.25;
  std::string dtype = "float32";
  std::string id_type = "int64";
  std::string bad_ids = "skip";
  std::string strategy;
  std::string backends;
  std::int64_t steps = 100;
  std::int64_t warmup_steps = 20;
  std::int64_t repeats = 5;
  std::optional<std::int64_t> block_rows;
  std::optional<std::int64_t> block_cols;
  std::int64_t seed = 42;
  std::optional<double> atol;
  std::optional<double> rtol;
  std::string indices_file;
  std::string offsets_file;
  std::string offsets_end = "included";
  std::string padding_id = "none";
  bool id_type_given = false;
  bool json = false;
};

void add_flags(CLI::App& arguments, Options& options);

/// Refuses, before any work, what can never run. Throws UsageError.
void require_consistent(const CLI::App& arguments, const Options& options);

struct Tolerance {
  double atol = 0;
  double rtol = 0;
};
/// As given, else what the type of the output allows.
[[nodiscard]] Tolerance tolerance(const Options& options);

/// The backends asked for, or those that make sense on the device.
[[nodiscard]] std::vector<std::string> backends(const Options& options, bool on_gpu);

}  // namespace jitbag::tools::bench
