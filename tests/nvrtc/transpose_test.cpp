#include "catch.hpp"
#include "compiler/cubin.hpp"
#include "compiler_here.hpp"
#include "jitbag/engine.hpp"
#include "support/suite_cache.hpp"
#include "support/transpose_case.hpp"

namespace jitbag::test {
namespace {

/// The last kernels: the others are backward's, of its matrix.
void compile_transpositions(const Target& target) {
  if (!compiler_knows(target)) return;
  Engine engine({.cache = suite_cache()});
  for (const TransposeSpec& spec : transpose_specs()) {
    INFO(to_text(spec));
    const Artifact artifact = engine.artifact(specialise(spec, target).back());
    if (suite_is_warm()) CHECK(artifact.origin == KernelOrigin::disk);
    CHECK(compiler::has_kernel(artifact.cubin, "transpose_uses"));
    CHECK(artifact.registers <= 64);  // of 65536, so that four blocks of 256 threads fit
    CHECK(artifact.shared_bytes == 0);
    CHECK(artifact.spill_bytes == 0);
    INFO(artifact.log);
    CHECK(artifact.log.find("warning") == std::string::npos);
  }
}

TEST_CASE("NVRTC compiles transpositions of every layout and type for sm_75", "[matrix][sm_75]") {
  compile_transpositions({7, 5});
}
TEST_CASE("NVRTC compiles transpositions of every layout and type for sm_80", "[matrix][sm_80]") {
  compile_transpositions({8, 0});
}
TEST_CASE("NVRTC compiles transpositions of every layout and type for sm_90", "[matrix][sm_90]") {
  compile_transpositions({9, 0});
}
TEST_CASE("NVRTC compiles transpositions of every layout and type for sm_100", "[matrix][sm_100]") {
  compile_transpositions({10, 0});
}
TEST_CASE("NVRTC compiles transpositions of every layout and type for sm_120", "[matrix][sm_120]") {
  compile_transpositions({12, 0});
}

}  // namespace
}  // namespace jitbag::test
