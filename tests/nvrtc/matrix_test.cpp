#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "compiler/cubin.hpp"
#include "compiler_here.hpp"
#include "jitbag/engine.hpp"
#include "support/backward_case.hpp"
#include "support/forward_matrix.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"
#include "tuning/weight_gradient_shape.hpp"

namespace jitbag::test {
namespace {

/// What holds for every kernel by the built-in rule or any other strategy.
void check_artifact(const Artifact& artifact, const std::string& entry, const Strategy& strategy) {
  if (suite_is_warm()) CHECK(artifact.origin == KernelOrigin::disk);
  CHECK(compiler::has_kernel(artifact.cubin, entry));
  CHECK(artifact.entry == entry);
  CHECK(artifact.registers > 0);
  CHECK(artifact.registers * strategy.block_threads <= 65536);
  CHECK(artifact.shared_bytes <= 48 * 1024);
  INFO(artifact.log);
  CHECK(artifact.log.find("warning") == std::string::npos);
}

/// Of rows without columns, which the matrix has none of.
void compile_backward_of_nothing(Engine& engine, const Target& target) {
  BackwardSpec spec;
  spec.table_gradient = AppliedGradient{Optimizer::row_wise_adagrad};
  const BackwardStrategy strategy = default_strategy(spec, target);
  for (const Specialisation& one : specialise(spec, strategy, target)) {
    INFO(one.name);
    check_artifact(engine.artifact(one), one.entry, strategy.shape);
  }
}

void compile_backward_matrix(Engine& engine, const Target& target) {
  // Of the kernels of the weights' gradient a few will do.
  constexpr std::size_t one_of_weights = 8;
  std::size_t of_weights = 0;
  for (const BackwardMatrixKernel& kernel : backward_matrix(seed())) {
    INFO(describe(kernel, target));
    const BackwardStrategy strategy = strategy_for(kernel, target);
    for (const Specialisation& one : specialise(kernel.spec, strategy, target)) {
      INFO(one.name);
      Strategy shape = strategy.shape;
      if (one.entry == "embedding_bag_weight_gradient") {
        if (of_weights++ % one_of_weights != 0) continue;
        shape = weight_gradient_shape(kernel.spec, shape.launch_mode);
      }
      check_artifact(engine.artifact(one), one.entry, shape);
    }
  }
}

void compile_matrix(const Target& target) {
  if (!compiler_knows(target)) return;
  std::cout << fmt::format("JITBAG_TEST_SEED={}\n", seed());
  Engine engine({.cache = suite_cache()});
  const auto kernels = forward_matrix(seed());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    INFO("kernel " << i << ": " << describe(kernels[i], target));
    const Strategy strategy = strategy_for(kernels[i], target);
    const Artifact artifact = engine.artifact(specialise(kernels[i].spec, strategy, target));
    check_artifact(artifact, "embedding_bag", strategy);
    // A report's lock, taken in a divergent loop, costs a few bytes of stack, used for a bad id
    // alone.
    const int cold_path_spill = kernels[i].spec.bad_ids == BadIds::report ? 64 : 0;
    if (kernels[i].shape == StrategyShape::rule) CHECK(artifact.spill_bytes <= cold_path_spill);
  }
  compile_backward_matrix(engine, target);
  compile_backward_of_nothing(engine, target);
}

TEST_CASE("NVRTC compiles the kernels of the matrix for sm_75", "[matrix][sm_75]") {
  compile_matrix({7, 5});
}
TEST_CASE("NVRTC compiles the kernels of the matrix for sm_80", "[matrix][sm_80]") {
  compile_matrix({8, 0});
}
TEST_CASE("NVRTC compiles the kernels of the matrix for sm_90", "[matrix][sm_90]") {
  compile_matrix({9, 0});
}
TEST_CASE("NVRTC compiles the kernels of the matrix for sm_100", "[matrix][sm_100]") {
  compile_matrix({10, 0});
}
TEST_CASE("NVRTC compiles the kernels of the matrix for sm_120", "[matrix][sm_120]") {
  compile_matrix({12, 0});
}

}  // namespace
}  // namespace jitbag::test
