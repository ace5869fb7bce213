#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "check_report.hpp"
#include "jitbag/host.hpp"
#include "jitbag/specialisation.hpp"
#include "machine_on_cpu.hpp"
#include "runtime/enqueue_transpose.hpp"
#include "spec/gradient_table.hpp"
#include "support/seed.hpp"
#include "support/transpose_case.hpp"

namespace jitbag::test {
namespace {

/// The kernels of a transposition as the C++ compiler made them.
class TransposeOnCpu {
 public:
  TransposeOnCpu(const TransposeSpec& spec, const Target& target)
      : spec_(spec),
        sorting_(sorting_of(spec)),
        kernels_(compiled(specialise(spec, target))),
        runner_(seed()) {}

  /// Launches with a workspace of its own. Returns nothing, or one sentence.
  [[nodiscard]] std::string launch(TransposeArguments arguments, BadInputReport& report) {
    const SortLayout layout(sorting_, gradient_table(sorting_), sorting_of(arguments));
    PlacedArray workspace(static_cast<std::size_t>(layout.bytes), 0);
    arguments.workspace = workspace.data();
    MachineOnCpu cpu{kernels_, runner_, {}};
    enqueue_transpose(cpu, spec_, sorting_, layout, arguments, &report);
    if (cpu.problem.empty() && !workspace.surroundings_are_poison()) {
      return "Something was written outside of the workspace.";
    }
    return cpu.problem;
  }

  /// Launches and checks all that was written, and was not.
  [[nodiscard]] std::string check(const TransposeCase& given) {
    const auto inputs = given.inputs.inputs;
    TransposeOutputs outputs = given.before;
    BadInputReport report{};
    std::string problem = launch(given.host_arguments(outputs), report);
    if (problem.empty()) problem = given.check(outputs);
    if (problem.empty()) {
      problem = check_report(given.inputs.spec, given.inputs.host_arguments(), report);
    }
    if (problem.empty() && given.inputs.inputs != inputs) problem = "An input was written to.";
    return problem;
  }

 private:
  TransposeSpec spec_;
  BackwardSpec sorting_;
  CompiledKernels kernels_;
  BlockRunner runner_;
};

TEST_CASE("a transposition on the CPU gives what a stable sort gives, and nothing else") {
  for (const TransposeSpec& spec : transpose_specs()) {
    TransposeOnCpu on_cpu(spec, {9, 0});
    for (const TransposeCase& given : transpose_cases(spec, 700)) {
      INFO(given.description);
      CHECK(on_cpu.check(given) == "");
    }
  }
}

TEST_CASE("a transposition on the CPU writes nothing that is not asked for") {
  const TransposeSpec spec = transpose_specs().front();
  TransposeOnCpu on_cpu(spec, {9, 0});
  const TransposeCase given = transpose_cases(spec, 50).back();
  TransposeOutputs outputs = given.before;
  const TransposeArguments arguments = {.forward = given.inputs.host_arguments(),
                                        .capacity = given.capacity,
                                        .rows = outputs.rows.data(),
                                        .count = &outputs.count};
  BadInputReport report{};
  CHECK(on_cpu.launch(arguments, report) == "");
  CHECK((outputs.rows == given.expected.rows));
  CHECK(outputs.count.rows == given.expected.count.rows);
  CHECK(outputs.count.ids == given.expected.count.ids);
  CHECK((outputs.inverse == given.before.inverse));
}

/// What the sort hands on, made in the plain way.
struct Sorted {
  Sorted(const std::vector<std::int64_t>& ids, std::size_t slice)
      : keys(ids.size()), positions(ids.size()), rows_before(ids.size() / slice + 2) {
    std::iota(positions.begin(), positions.end(), 0u);
    std::stable_sort(positions.begin(), positions.end(),
                     [&](auto a, auto b) { return ids[a] < ids[b]; });
    unsigned rows = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i % slice == 0) rows_before[i / slice] = rows;
      keys[i] = static_cast<unsigned>(ids[positions[i]]);
      rows += i == 0 || keys[i] != keys[i - 1] ? 1 : 0;
    }
    rows_before[(ids.size() + slice - 1) / slice] = rows;
  }
  std::vector<unsigned> keys, positions, rows_before;
};

TEST_CASE("the last kernel of a transposition takes slices of any length") {
  const TransposeSpec spec = transpose_specs().front();
  const CompiledKernels kernels = compiled(specialise(spec, {9, 0}));
  BlockRunner runner(seed());
  ForwardCaseOptions options;
  options.num_rows = 90;
  options.mix = {0, 0, 0};
  for (const std::int64_t slice : {8, 32, 48, 128, 1024}) {
    // The last slice is full, has one use, or all but one.
    for (const std::int64_t batch : {256, 261, 255}) {
      INFO("slices of " << slice << ", bags: " << batch);
      options.batch = batch;
      options.seed = seed() + static_cast<std::uint64_t>(slice + batch);
      const TransposeCase given({.bags = FixedBags{5}, .weight_type = DataType::float32}, options,
                                -3);
      TransposeOutputs outputs = given.before;
      const TransposeArguments arguments = given.host_arguments(outputs);
      const auto* const first = static_cast<const std::int64_t*>(arguments.forward.ids);
      const Sorted sorted({first, first + batch * 5}, static_cast<std::size_t>(slice));
      SortLayout layout(sorting_of(spec), sorting_of(spec).forward, sorting_of(arguments));
      layout.slice = slice;
      SortedUses uses{};
      uses.keys = sorted.keys.data();
      uses.positions = sorted.positions.data();
      uses.rows_before = sorted.rows_before.data();
      uses.count = static_cast<unsigned>(batch * 5);
      uses.slice = static_cast<unsigned>(slice);
      const TransposedUses to = transposed_uses(layout, arguments);
      MachineOnCpu cpu{kernels, runner, {}};
      cpu.launch(TransposingKernel::transpose,
                 divided_up(batch * 5 + 1, std::int64_t{to.uses_per_warp} * 8),
                 transpose_block_threads, uses, to);
      CHECK(cpu.problem == "");
      // Rows and their count are another kernel's.
      outputs.rows = given.expected.rows;
      outputs.count.rows = given.expected.count.rows;
      outputs.count.missing = given.expected.count.missing;
      CHECK(given.check(outputs) == "");
    }
  }
}

}  // namespace
}  // namespace jitbag::test
