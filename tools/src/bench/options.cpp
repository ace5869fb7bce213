#include "bench/options.hpp"

#include <spdlog/fmt/fmt.h>

#include <limits>

#include "arguments.hpp"
#include "kernel_request.hpp"
#include "strategy_text.hpp"

namespace jitbag::tools::bench {
namespace {

constexpr std::int64_t most_steps = 1'000'000'000;
constexpr double no_limit = std::numeric_limits<double>::max();

double default_tolerance(DataType type) {
  switch (type) {
    case DataType::float16:
      return 1e-2;
    case DataType::bfloat16:
      return 2e-2;
    case DataType::float32:
      break;
  }
  return 1e-5;
}

void add_shape_flags(CLI::App& arguments, Options& options) {
  add_operator_flag(arguments, options.operator_name);
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
  arguments.add_option("--dtype", options.dtype, "Type of table and output")
      ->check(one_of({"float16", "bfloat16", "float32"}))
      ->type_name("float16|bfloat16|float32");
  arguments
      .add_option("--id-type", options.id_type, "Type of the ids; with --indices, the file's own")
      ->check(one_of({"int32", "int64"}))
      ->type_name("int32|int64");
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
      ->check(padding_id_text())
      ->type_name("ID|none");
}

void add_measure_flags(CLI::App& arguments, Options& options) {
  arguments.add_option("--device", options.device, "auto: the GPU if there is one, else the CPU")
      ->check(one_of({"cuda", "cpu", "auto"}))
      ->type_name("cuda|cpu|auto");
  arguments
      .add_option("--backends", options.backends,
                  "Of jit, cpu, reference (the float64 definition); unset: all that the device "
                  "has. torch, torch_compile, triton, tilelang and cuembed are told as unsupported")
      ->check(list_of(one_of(
          {"jit", "cpu", "reference", "torch", "torch_compile", "triton", "tilelang", "cuembed"})))
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
                  "for bfloat16")
      ->check(real_number(0, no_limit))
      ->type_name("X");
  arguments.add_option("--rtol", options.rtol, "Unset: as --atol")
      ->check(real_number(0, no_limit))
      ->type_name("X");
}

void add_kernel_flags(CLI::App& arguments, Options& options) {
  arguments.add_option("--bad-ids", options.bad_ids, "What an id outside the table does")
      ->check(one_of({"skip", "report", "trust"}))
      ->type_name("skip|report|trust");
  arguments
      .add_option(
          "--strategy", options.strategy,
          "How jit computes it, instead of the built-in rule: \"" + to_text(Strategy{}) + "\"")
      ->type_name("TEXT");
  const std::string tile_note =
      "Echoed only: tiles belong to other backends, jit is steered by --strategy";
  arguments.add_option("--block-rows", options.block_rows, tile_note)
      ->check(whole_number(1, largest_dim))
      ->type_name("N");
  arguments.add_option("--block-cols", options.block_cols, tile_note)
      ->check(whole_number(1, largest_dim))
      ->type_name("N");
}

}  // namespace

void add_flags(CLI::App& arguments, Options& options) {
  arguments.option_defaults()->always_capture_default();
  add_shape_flags(arguments, options);
  add_file_flags(arguments, options);
  add_measure_flags(arguments, options);
  add_kernel_flags(arguments, options);
  arguments.add_flag("--json", options.json, "JSON on a terminal too");
}

void require_consistent(const CLI::App& arguments, const Options& options) {
  if (options.indices_file.empty()) {
    for (const char* name : {"--offsets", "--offsets-end", "--embedding-padding-id"}) {
      if (arguments.count(name) > 0)
        throw UsageError(fmt::format("{} is about the ids of a file: give --indices too", name));
    }
  } else {
    for (const char* name :
         {"--batch", "--embedding-vocab-size", "--embedding-bag-size", "--embedding-padding-prob"})
      refuse_beside(arguments, name, "--indices", "the file decides that");
  }
  if (options.id_type == "int32" && options.vocab_size > std::numeric_limits<std::int32_t>::max())
    throw UsageError(
        fmt::format("--embedding-vocab-size {} does not fit ids of type int32, give "
                    "--id-type int64",
                    options.vocab_size));
  if (!options.strategy.empty()) static_cast<void>(parse_strategy(options.strategy));
}

Tolerance tolerance(const Options& options) {
  const double usual = default_tolerance(parse_data_type(options.dtype));
  return {options.atol.value_or(usual), options.rtol.value_or(usual)};
}

std::vector<std::string> backends(const Options& options, bool on_gpu) {
  if (!options.backends.empty()) return distinct_parts(options.backends);
  if (on_gpu) return {"jit", "cpu", "reference"};
  return {"cpu", "reference"};
}

}  // namespace jitbag::tools::bench
