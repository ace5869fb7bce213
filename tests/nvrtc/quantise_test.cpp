#include "catch.hpp"
#include "compiler/cubin.hpp"
#include "compiler_here.hpp"
#include "jitbag/engine.hpp"
#include "support/quantise_case.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

void compile_quantisers(const Target& target) {
  if (!compiler_knows(target)) return;
  Engine engine({.cache = suite_cache()});
  for (const ForwardSpec& spec : quantiser_specs()) {
    INFO(to_text(spec));
    const Artifact artifact = engine.artifact(quantiser_specialisation(spec, target));
    if (suite_is_warm()) CHECK(artifact.origin == KernelOrigin::disk);
    CHECK(compiler::has_kernel(artifact.cubin, "quantise_rows"));
    CHECK(artifact.entry == "quantise_rows");
    CHECK(artifact.registers > 0);
    CHECK(artifact.registers <= 64);  // of 65536, so that four blocks of 256 threads fit
    CHECK(artifact.shared_bytes == 0);
    CHECK(artifact.spill_bytes == 0);
    INFO(artifact.log);
    CHECK(artifact.log.find("warning") == std::string::npos);
  }
}

TEST_CASE("NVRTC compiles quantisers of every type and layout for sm_75", "[matrix][sm_75]") {
  compile_quantisers({7, 5});
}
TEST_CASE("NVRTC compiles quantisers of every type and layout for sm_80", "[matrix][sm_80]") {
  compile_quantisers({8, 0});
}
TEST_CASE("NVRTC compiles quantisers of every type and layout for sm_90", "[matrix][sm_90]") {
  compile_quantisers({9, 0});
}
TEST_CASE("NVRTC compiles quantisers of every type and layout for sm_100", "[matrix][sm_100]") {
  compile_quantisers({10, 0});
}
TEST_CASE("NVRTC compiles quantisers of every type and layout for sm_120", "[matrix][sm_120]") {
  compile_quantisers({12, 0});
}

}  // namespace
}  // namespace jitbag::test
