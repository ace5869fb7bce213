#include "bench/options.hpp"

#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <map>

#include "arguments.hpp"
#include "bench/training_flags.hpp"

namespace jitbag::tools::bench {
namespace {

constexpr std::int64_t most_steps = 1'000'000'000;
constexpr double no_limit = std::numeric_limits<double>::max();

/// Operators by the pooling that their names say.
const std::map<std::string, std::string> poolings = {
    {"embedding_bag_sum", "sum"}, {"embedding_bag_max", "max"}, {"embedding_bag_none", "none"}};

void add_pooling_operators(CLI::App& arguments, Options& options) {
  std::vector<std::string> names = {embedding_bag, embedding_bag_mean};
  for (const auto& [name, pooling] : poolings) names.push_back(name);
  arguments
      .add_option("--operator", options.kernel.operator_name,
                  "What to compute: embedding_bag, or one whose name says the pooling: "
                  "embedding_bag_mean (which, being older than --pooling, still may have one), "
                  "embedding_bag_sum, embedding_bag_max, embedding_bag_none")
      ->check(one_of(names))
      ->type_name("NAME");
}

void add_shape_flags(CLI::App& arguments, Options& options) {
  arguments.add_option("--batch", options.batch, "Bags")
      ->check(whole_number(1, largest_batch))
      ->type_name("N");
  arguments
      .add_option("--embedding-vocab-size", options.vocab_size,
                  "Ids 1 to N; the table has a row more")
      ->check(whole_number(1, largest_count))
      ->type_name("N");
  arguments.add_option("--embedding-dim", options.dims, "Columns; several make a sweep")
      ->check(list_of(whole_number(1, largest_dim)))
      ->type_name("LIST");
  arguments
      .add_option("--embedding-bag-size", options.bag_sizes, "Ids a bag; several make a sweep")
      ->check(list_of(whole_number(0, largest_dim)))
      ->type_name("LIST");
  arguments
      .add_option("--embedding-padding-prob", options.padding_prob,
                  "Probability that an id is 0, the padding id")
      ->check(real_number(0, 1))
      ->type_name("P");
}

void add_file_flags(CLI::App& arguments, Options& options) {
  arguments
      .add_option("--indices", options.indices_file,
                  "Real ids instead: .npy, [batch, bag], or [n] with --offsets. The table has "
                  "as many rows as the largest id needs")
      ->type_name("FILE");
  arguments
      .add_option("--offsets", options.offsets_file, "Where the bags of --indices start: .npy")
      ->type_name("FILE");
  arguments
      .add_option("--offsets-end", options.offsets_end,
                  "Whether the offsets hold the end of the last bag (batch + 1 of them) or not")
      ->check(one_of({"included", "implied"}))
      ->type_name("included|implied");
  arguments
      .add_option("--embedding-padding-id", options.padding_id,
                  "The id of --indices that is skipped and not counted")
      ->check(value_of(kernel_axis("padding_id")))
      ->type_name("ID|none");
}

void add_measure_flags(CLI::App& arguments, Options& options) {
  arguments.add_option("--device", options.device, "auto: the GPU if there is one, else the CPU")
      ->check(one_of({"cuda", "cpu", "auto"}))
      ->type_name("cuda|cpu|auto");
  arguments
      .add_option("--backends", options.backends,
                  "Of jit, cpu, reference (the float64 definition), and with --tables jit_alone "
                  "(each table by a launch of its own); unset: all that the device "
                  "has. torch, torch_compile, triton, tilelang and cuembed are told as unsupported")
      ->check(list_of(one_of({"jit", "jit_alone", "cpu", "reference", "torch", "torch_compile",
                              "triton", "tilelang", "cuembed"})))
      ->type_name("LIST")
      ->default_str("");
  arguments.add_option("--steps", options.steps, "Launches in each timed repeat")
      ->check(whole_number(1, most_steps))
      ->type_name("N");
  arguments.add_option("--warmup-steps", options.warmup_steps, "Launches before the first repeat")
      ->check(whole_number(0, most_steps))
      ->type_name("N");
  arguments.add_option("--repeats", options.repeats, "Timed repeats")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  arguments.add_option("--seed", options.seed, "Of table and ids")
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  arguments
      .add_option("--atol", options.atol,
                  "Largest error beside rtol * |expected|; unset: 1e-5, 1e-2 for float16, 2e-2 "
                  "for bfloat16, 1e-12 for float64, and for sums at least 1e-5 for each row of "
                  "the longest bag (1e-12 of a float64 table)")
      ->check(real_number(0, no_limit))
      ->type_name("X");
  arguments.add_option("--rtol", options.rtol, "Unset: as --atol")
      ->check(real_number(0, no_limit))
      ->type_name("X");
}

void add_tables_flags(CLI::App& arguments, Options& options) {
  arguments
      .add_option(
          "--tables", options.tables,
          "Many tables in one launch: a JSON file, or dlrm_dcnv2, the 26 tables of MLPerf's "
          "benchmark of that name")
      ->check(file_name())
      ->type_name("FILE|dlrm_dcnv2");
  arguments.add_option("--layout", options.layout, "How the bags of --tables are told")
      ->check(one_of({"fixed", "csr"}))
      ->type_name("fixed|csr");
}

void add_tile_flags(CLI::App& arguments, Options& options) {
  const std::string tile_note =
      "Echoed only: tiles belong to other backends, jit is steered by --strategy";
  arguments.add_option("--block-rows", options.block_rows, tile_note)
      ->check(whole_number(1, largest_dim))
      ->type_name("N");
  arguments.add_option("--block-cols", options.block_cols, tile_note)
      ->check(whole_number(1, largest_dim))
      ->type_name("N");
}

/// Random ids of one table, a file's, or those of many tables.
void require_one_source_of_ids(const CLI::App& arguments, const Options& options) {
  const auto refuse_all = [&](const std::vector<const char*>& names, const char* given) {
    for (const char* name : names) refuse_beside(arguments, name, given, "the file decides that");
  };
  if (options.indices_file.empty())
    refuse_without(arguments, {"--offsets", "--offsets-end", "--embedding-padding-id"},
                   "is about the ids of a file: give --indices too");
  else
    refuse_all({"--batch", "--embedding-vocab-size", "--embedding-bag-size",
                "--embedding-padding-prob", "--tables"},
               "--indices");
  if (options.tables.empty())
    refuse_without(arguments, {"--layout"}, "is about many tables: give --tables too");
  else
    refuse_all({"--embedding-vocab-size", "--embedding-dim", "--embedding-bag-size",
                "--embedding-padding-prob", "--strategy"},
               "--tables");
}

}  // namespace

void add_flags(CLI::App& arguments, Options& options) {
  arguments.option_defaults()->always_capture_default();
  add_shape_flags(arguments, options);
  add_pooling_operators(arguments, options);
  add_kernel_flags(arguments, options.kernel, Lists::refused);
  add_training_flags(arguments, options);
  add_tables_flags(arguments, options);
  add_file_flags(arguments, options);
  add_measure_flags(arguments, options);
  add_tile_flags(arguments, options);
  arguments.add_flag("--json", options.json, "JSON on a terminal too");
}

void take_pooling_of_operator(const CLI::App& arguments, Options& options) {
  const auto pooling = poolings.find(options.kernel.operator_name);
  if (pooling == poolings.end()) return;
  refuse_beside(arguments, "--pooling", "--operator " + pooling->first,
                "the operator's name decides that");
  options.kernel.values["pooling"] = pooling->second;
}

void require_consistent(const CLI::App& arguments, const Options& options) {
  require_one_source_of_ids(arguments, options);
  require_consistent_training(arguments, options);
  if (options.kernel.values.at("id_type") == "int32" &&
      options.vocab_size > std::numeric_limits<std::int32_t>::max())
    throw UsageError(
        fmt::format("--embedding-vocab-size {} does not fit ids of type int32, give "
                    "--id-type int64",
                    options.vocab_size));
}

KernelChoice choice_of(const Options& options, std::int64_t dim) {
  KernelFlags flags = options.kernel;
  flags.values["embedding_dim"] = std::to_string(dim);
  return kernel_choice(flags);
}

std::vector<std::string> backends(const Options& options, bool on_gpu) {
  if (!options.backends.empty()) return distinct_parts(options.backends);
  if (!options.tables.empty()) return {"jit", "jit_alone"};
  if (options.training)
    return on_gpu ? std::vector<std::string>{"jit", "cpu"} : std::vector<std::string>{"cpu"};
  if (on_gpu) return {"jit", "cpu", "reference"};
  return {"cpu", "reference"};
}

}  // namespace jitbag::tools::bench
