#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli11.hpp"
#include "jitbag/forward_spec.hpp"
#include "kernel_flags.hpp"

namespace jitbag::tools::bench {

/// What the command line of `jitbag bench` says, with its defaults.
struct Options {
  /// What a kernel of the bench may be beside its shape.
  KernelFlags kernel{{"pooling", "mean_length", "dtype", "table_type", "scale_type", "row_scale",
                      "output_type", "weight_type", "id_type", "bad_ids", "row_stride",
                      "strategy"}};
  std::string device = "auto";
  std::int64_t batch = 8;
  std::int64_t vocab_size = 1'000'000;
  std::string dims = "64";
  std::string bag_sizes = "4";
  double padding_prob = 0.25;
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
  bool training = false;
  std::string gradient = "dense";  ///< what is made of it: dense, kept, sparse, applied
  std::string gradient_type = "table";
  std::string optimizer = "sgd";
  bool deterministic = false;
  std::string tables;  ///< a file, or the name of a set that is known
  std::string layout = "fixed";
  bool json = false;
};

void add_flags(CLI::App& arguments, Options& options);

/// Takes the pooling from an operator whose name says it. Throws UsageError where --pooling is
/// given too.
void take_pooling_of_operator(const CLI::App& arguments, Options& options);

/// Refuses, before any work, what can never run. Throws UsageError.
void require_consistent(const CLI::App& arguments, const Options& options);

/// What the flags say of a kernel with that many columns. Throws UsageError.
[[nodiscard]] KernelChoice choice_of(const Options& options, std::int64_t dim);

/// The backends asked for, or those that make sense on the device.
[[nodiscard]] std::vector<std::string> backends(const Options& options, bool on_gpu);

}  // namespace jitbag::tools::bench
