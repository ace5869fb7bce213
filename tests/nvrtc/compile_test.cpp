#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "compiler_here.hpp"
#include "jitbag/engine.hpp"
#include "jitbag/error.hpp"
#include "support/caught.hpp"

namespace jitbag::test {
namespace {

constexpr Target h200{9, 0};

Artifact compile(const Specialisation& specialisation) {
  return Engine({.cache = cache::CacheOptions{}}).artifact(specialisation);
}

std::string failure(const KernelTemplate& kernel_template, std::string* details = nullptr) {
  return caught([&] {
    try {
      static_cast<void>(compile(specialise(kernel_template, h200)));
    } catch (const Error& error) {
      if (details) *details = error.details();
      throw;
    }
  });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

KernelTemplate scale() {
  return {.name = "scale.cu",
          .text =
              "// Scales.\n"
              "extern \"C\" __global__ void scale(float* x) {\n"
              "  x[threadIdx.x] *= factor;\n"
              "}\n",
          .entry = "scale",
          .constants = {{"float", "factor", "2.5f"}}};
}

TEST_CASE("the kernels of the seed sweep use no local memory") {
  if (!compiler_is_here()) return;
  for (const DataType type : {DataType::float16, DataType::bfloat16, DataType::float32}) {
    for (const std::int64_t dim : {32, 64, 128}) {
      for (const std::int64_t bag : {1, 2, 4, 8}) {
        ForwardSpec spec;
        spec.dim = dim;
        spec.bags = FixedBags{bag};
        spec.table_type = spec.output_type = type;
        spec.padding_id = 0;
        INFO(to_text(spec));
        const Artifact artifact = compile(specialise(spec, default_strategy(spec, h200), h200));
        CHECK(artifact.spill_bytes == 0);
        CHECK(contains(artifact.log, "0 bytes stack frame"));
        CHECK(artifact.shared_bytes == 0);
      }
    }
  }
}

TEST_CASE(
    "the compiler warns of nothing where rows have no columns, or bags as many ids as may be") {
  if (!compiler_is_here()) return;
  for (const auto& [dim, bag] : {std::pair{0, 4}, std::pair{4, (1 << 30) - 1}}) {
    BackwardSpec spec;
    spec.forward.dim = dim;
    spec.forward.bags = FixedBags{bag};
    spec.forward.id_type = IntegerType::int32;
    std::vector<Specialisation> kernels = {
        specialise(spec.forward, default_strategy(spec.forward, h200), h200)};
    for (const auto method : {BackwardMethod::scatter, BackwardMethod::merge}) {
      kernels.push_back(specialise(spec, default_strategy(spec, method, h200), h200).front());
    }
    for (const Specialisation& kernel : kernels) {
      const Artifact artifact = compile(kernel);
      INFO(to_text(spec) << '\n' << artifact.log);
      CHECK_FALSE(contains(artifact.log, "warning"));
    }
  }
}

TEST_CASE("two compiles of one text give the same bytes") {
  if (!compiler_is_here()) return;
  ForwardSpec spec;
  spec.dim = 100;
  spec.bags = CsrBags{};
  const auto kernel = specialise(spec, default_strategy(spec, h200), h200);
  const Artifact first = compile(kernel);
  const Artifact second = compile(kernel);
  CHECK(first.cubin == second.cubin);
  CHECK(first.log == second.log);
  CHECK(first.key == second.key);
}

TEST_CASE("a user's template is compiled with its constants and options") {
  if (!compiler_is_here()) return;
  KernelTemplate with_option = scale();
  with_option.text += "#if CHECKED != 7\n#error no option\n#endif\n";
  with_option.options = {"-DCHECKED=7"};
  const Artifact artifact = compile(specialise(with_option, h200));
  CHECK(artifact.origin == KernelOrigin::compiled);
  CHECK(artifact.entry == "scale");
  CHECK(artifact.registers > 0);
  CHECK(artifact.times.compile_ms > 0);
  CHECK(contains(artifact.compiler, "NVRTC " + compiler::version()));
}

TEST_CASE("of a source with several kernels, the resources are those of the entry") {
  if (!compiler_is_here()) return;
  const int alone = compile(specialise(scale(), h200)).registers;
  KernelTemplate two = scale();
  two.text +=
      "extern \"C\" __global__ void other(float* x) {\n"
      "  __shared__ float y[256];\n"
      "  y[threadIdx.x] = x[threadIdx.x];\n"
      "  __syncthreads();\n"
      "  x[threadIdx.x] = y[255 - threadIdx.x];\n"
      "}\n";
  CHECK(compile(specialise(two, h200)).registers == alone);
  CHECK(compile(specialise(two, h200)).shared_bytes == 0);
  two.entry = "other";
  CHECK(compile(specialise(two, h200)).shared_bytes == 1024);
}

TEST_CASE("a compile error has the log beside the numbered source line") {
  if (!compiler_is_here()) return;
  KernelTemplate wrong = scale();
  wrong.text.replace(wrong.text.find("factor"), 6, "factr");
  std::string details;
  const std::string sentence = failure(wrong, &details);
  CHECK(contains(sentence, "compile_failed: scale.cu could not be compiled for sm_90"));
  INFO(details);
  // One line of constants stands above the template's text.
  CHECK(contains(details, "scale.cu(4): error"));
  CHECK(contains(details, "     4 |   x[threadIdx.x] *= factr;\n"));
}

TEST_CASE("a template without the entry it names is refused") {
  if (!compiler_is_here()) return;
  KernelTemplate wrong = scale();
  wrong.entry = "scale2";
  CHECK(failure(wrong) ==
        "compile_failed: scale.cu compiled for sm_90, but no kernel named scale2 is in it; declare "
        "it extern \"C\" __global__.");
  wrong = scale();
  wrong.text.replace(wrong.text.find("extern \"C\" "), 11, "");
  CHECK(contains(failure(wrong), "no kernel named scale is in it"));
}

TEST_CASE("an option or an architecture that NVRTC does not know is a sentence") {
  if (!compiler_is_here()) return;
  KernelTemplate wrong = scale();
  wrong.options = {"--no-such-option"};
  CHECK(contains(failure(wrong), "does not know an option or the architecture"));
  CHECK(contains(caught([] {
                   static_cast<void>(compile(specialise(scale(), {63, 0})));
                 }),
                 "compile_failed: scale.cu could not be compiled for sm_630"));
}

TEST_CASE("a source text with whatever in it is compiled or refused, never more") {
  if (!compiler_is_here()) return;
  for (const std::string& text : {std::string(), std::string("\n"), std::string("\xff\xfe"),
                                  std::string(100'000, '('), std::string("#error \"a\nb")}) {
    KernelTemplate wrong = scale();
    wrong.constants.clear();
    wrong.text = text;
    CHECK(contains(failure(wrong), "compile_failed: scale.cu "));
  }
}

}  // namespace
}  // namespace jitbag::test
