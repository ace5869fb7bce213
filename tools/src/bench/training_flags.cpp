#include "bench/training_flags.hpp"

#include <CLI/CLI.hpp>

#include "arguments.hpp"

namespace jitbag::tools::bench {

void add_training_flags(CLI::App& arguments, Options& options) {
  arguments.add_flag(
      "--training", options.training,
      "Forward, backward and the optimizer's step, apart and together; --strategy is "
      "forward's");
  arguments
      .add_option("--gradient", options.gradient,
                  "With --training, what is made of the gradient: dense (added to zeros, which are "
                  "written first), kept (the same in a buffer of which every step clears the rows "
                  "that it used), sparse (the rows that were read alone), applied (an optimizer's "
                  "step on those rows, in the same pass)")
      ->check(one_of({"dense", "kept", "sparse", "applied"}))
      ->type_name("KIND");
  arguments
      .add_option("--gradient-type", options.gradient_type,
                  "Type of a gradient that is not applied: float32, float16, bfloat16, float64; "
                  "table: as a float table, float32 of a quantised one")
      ->check(one_of({"table", "float32", "float16", "bfloat16", "float64"}))
      ->type_name("TYPE");
  arguments
      .add_option(
          "--optimizer", options.optimizer,
          "With --gradient applied: sgd, plain_sgd (without clipping and weight decay), momentum, "
          "adagrad, row_wise_adagrad, adam")
      ->check(one_of({"sgd", "plain_sgd", "momentum", "adagrad", "row_wise_adagrad", "adam"}))
      ->type_name("NAME");
  arguments.add_flag("--deterministic", options.deterministic,
                     "With --training: the same bits on every run");
}

void require_consistent_training(const CLI::App& arguments, const Options& options) {
  if (!options.training) {
    refuse_without(arguments, {"--gradient", "--gradient-type", "--optimizer", "--deterministic"},
                   "is about training: give --training too");
    return;
  }
  if (!options.tables.empty())
    refuse_beside(arguments, "--training", "--tables", "it is about one table");
  if (options.gradient == "applied")
    refuse_beside(arguments, "--gradient-type", "--gradient applied",
                  "such a gradient is stored nowhere");
  else
    refuse_without(arguments, {"--optimizer"},
                   "is about a gradient that is applied: give --gradient applied too");
}

}  // namespace jitbag::tools::bench
