#include "sorted_on_cpu.hpp"

#include <cstring>
#include <map>

#include "codegen/sorted_kernels.hpp"
#include "jitbag/specialisation.hpp"
#include "runtime/sorted_arguments.hpp"
#include "spec/gradient_table.hpp"
#include "support/placed_array.hpp"

namespace jitbag::test {
namespace {

using Uses = void(BagArguments, UsesArguments, BadInputReport*);
using RadixPass = void(RadixPassArguments);
using NumberRows = void(NumberRowsArguments);
using Reduce = void(BagArguments, SortedUses, RowGradientArguments);
using Join = void(SortedUses, RowGradientArguments);

/// Kernels that many specs share are compiled once.
std::shared_ptr<CompiledKernel> compiled(const Specialisation& one) {
  static std::map<std::string, std::shared_ptr<CompiledKernel>> known;
  std::shared_ptr<CompiledKernel>& kernel = known[one.source];
  if (kernel == nullptr) kernel = std::make_shared<CompiledKernel>(one.source, one.entry);
  return kernel;
}

}  // namespace

SortedOnCpu::SortedOnCpu(const BackwardSpec& spec, const BackwardStrategy& strategy,
                         const Target& target, std::uint64_t seed)
    : spec_(validated(spec)), shape_(strategy.shape), runner_(seed) {
  for (const Specialisation& one : specialise(spec, strategy, target)) {
    kernels_.push_back(compiled(one));
  }
}

std::string SortedOnCpu::launch(BackwardArguments arguments, BadInputReport& report) {
  const SortLayout layout(spec_, arguments);
  PlacedArray workspace(static_cast<std::size_t>(layout.bytes), 0);
  arguments.workspace = workspace.data();
  arguments.workspace_bytes = layout.bytes;
  if (layout.ids == 0) {
    if (arguments.count != nullptr) *arguments.count = {};
    return {};
  }
  std::memset(workspace.data(), 0, static_cast<std::size_t>(layout.zeroed_bytes));
  if (layout.needs_ones) {
    std::memset(workspace.data() + layout.keys[0], 0xff,
                static_cast<std::size_t>(layout.bytes_of_ones));
  }

  const SortedArguments sorted(spec_, layout, arguments);
  std::string problem;
  const auto run = [&]<class Function>(SortedKernel number, std::int64_t blocks, int threads,
                                       Function*, auto... with) {
    if (!problem.empty()) return;
    CompiledKernel& kernel = *kernels_[static_cast<std::size_t>(number)];
    auto* const entry = kernel.entry<Function>();
    problem =
        kernel.run(runner_, {.blocks = blocks, .block_threads = threads}, [&] { entry(with...); });
  };
  run(SortedKernel::uses, sorted.uses_blocks(), uses_block_threads, static_cast<Uses*>(nullptr),
      sorted.bags(), sorted.uses(), &report);
  for (int pass = 0; pass < layout.passes; ++pass) {
    run(layout.has_large_tiles ? SortedKernel::large_pass : SortedKernel::small_pass, layout.tiles,
        pass_block_threads, static_cast<RadixPass*>(nullptr), sorted.pass(pass));
  }
  if (std::holds_alternative<SparseGradient>(spec_.table_gradient)) {
    run(SortedKernel::number_rows, sorted.number_rows_blocks(), number_rows_block_threads,
        static_cast<NumberRows*>(nullptr), sorted.number_rows());
  }
  if (spec_.forward.dim > 0) {
    const std::int64_t tiles = tiles_of(gradient_table(spec_), shape_);
    run(SortedKernel::reduce, divided_up(layout.slices, rows_per_block(shape_)) * tiles,
        shape_.block_threads, static_cast<Reduce*>(nullptr), sorted.bags(), sorted.sorted_uses(),
        sorted.row_gradients());
    run(SortedKernel::join, divided_up(layout.slices, slices_per_block_of_join) * tiles,
        shape_.block_threads, static_cast<Join*>(nullptr), sorted.sorted_uses(),
        sorted.row_gradients());
  }
  if (problem.empty() && !workspace.surroundings_are_poison()) {
    return "Something was written outside of the workspace.";
  }
  return problem;
}

}  // namespace jitbag::test
