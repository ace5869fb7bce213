#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "jitbag/specialisation.hpp"
#include "support/caught.hpp"
#include "support/forward_matrix.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

constexpr Target h200{9, 0};

ForwardSpec seed_spec() {
  ForwardSpec spec;
  spec.dim = 64;
  spec.bags = FixedBags{4};
  spec.table_type = DataType::float16;
  spec.output_type = DataType::float16;
  spec.padding_id = 0;
  return spec;
}

Specialisation seed_kernel() {
  return specialise(seed_spec(), default_strategy(seed_spec(), h200), h200);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string golden(const std::string& name) {
  std::ifstream stream(std::string(JITBAG_TEST_UNIT_FOLDER) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

KernelTemplate scale() {
  return {.name = "scale.cu",
          .text = "extern \"C\" __global__ void scale(float* x) { x[threadIdx.x] *= factor; }\n",
          .entry = "scale",
          .constants = {{"float", "factor", "2.5f"}, {"int", "unused", "-1"}}};
}

TEST_CASE("a template that could read a file is refused, since the file would not be in the key") {
  const Target target = {.major = 9, .minor = 0};
  KernelTemplate kernel = {.name = "own.cu", .text = "", .entry = "own"};
  for (const char* text :
       {"#include \"x.h\"", "  # include <x>", "%:include <x>", "#\\\ninclude <x>",
        "#if __has_include(<x>)\n#endif", "/**/#/**/include NAME"}) {
    kernel.text = text;
    INFO(text);
    CHECK_THROWS_AS(specialise(kernel, target), Error);
  }
  kernel.text = "extern \"C\" __global__ void own() {}  // includes nothing";
  CHECK_NOTHROW(specialise(kernel, target));
  kernel.options = {" -I/tmp"};
  CHECK_THROWS_AS(specialise(kernel, target), Error);
}

TEST_CASE("the constants of a kernel are a block that stays as it is") {
  const std::string source = seed_kernel().source;
  const std::string block = golden("codegen_test.golden.txt");
  REQUIRE_FALSE(block.empty());
  CHECK(source.substr(0, block.size()) == block);
}

TEST_CASE("a kernel's source includes nothing and names its entry") {
  const Specialisation kernel = seed_kernel();
  CHECK_FALSE(contains(kernel.source, "#include"));
  CHECK(contains(kernel.source, "\n    " + kernel.entry + "("));
  CHECK(contains(kernel.source, "struct BadInputReport"));
  CHECK(contains(kernel.source, "load_if"));
}

TEST_CASE("codegen is a function: equal work gives equal text") {
  CHECK(seed_kernel() == seed_kernel());
  ForwardSpec spec = seed_spec();
  spec.row_stride = spec.dim;
  spec.alignment = 256;
  CHECK(specialise(spec, default_strategy(spec, h200), h200) == seed_kernel());
}

TEST_CASE("different kernels of the matrix have different texts") {
  const auto kernels = forward_matrix(seed());
  std::vector<std::string> sources;
  for (const MatrixKernel& kernel : kernels) {
    sources.push_back(specialise(kernel.spec, strategy_for(kernel, h200), h200).source);
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = kernels[i].spec == kernels[j].spec &&
                        strategy_for(kernels[i], h200) == strategy_for(kernels[j], h200);
      CHECK((sources[i] == sources[j]) == same);
    }
  }
}

TEST_CASE("the lowest padding id has a literal that compiles") {
  ForwardSpec spec = seed_spec();
  spec.padding_id = INT64_MIN;
  CHECK(contains(specialise(spec, default_strategy(spec, h200), h200).source,
                 "padding_id = (-0x7fffffffffffffffll - 1);"));
}

TEST_CASE("codegen refuses a spec or a strategy that cannot work") {
  ForwardSpec spec = seed_spec();
  spec.dim = -1;
  CHECK(contains(caught([&] { static_cast<void>(specialise(spec, Strategy{}, h200)); }),
                 "invalid_argument: dim is -1"));
  Strategy strategy = default_strategy(seed_spec(), h200);
  CHECK(contains(caught([&] {
                   static_cast<void>(specialise(seed_spec(), strategy, {8, 0}));
                 }),
                 "invalid_argument: The strategy's launch mode is dependent"));
  strategy.bag_lanes = 5;
  CHECK(contains(caught([&] { static_cast<void>(specialise(seed_spec(), strategy, h200)); }),
                 "invalid_argument: The strategy's bag_lanes is 5"));
}

TEST_CASE("a template's constants stand above its text") {
  const Specialisation kernel = specialise(scale(), h200);
  CHECK(kernel.source ==
        "constexpr float factor = 2.5f;\nconstexpr int unused = -1;\n" + scale().text);
  CHECK(kernel.name == "scale.cu");
  CHECK(kernel.entry == "scale");
}

TEST_CASE("a template is refused for names that are no identifiers") {
  KernelTemplate bad = scale();
  bad.entry = "sc ale";
  CHECK(caught([&] { static_cast<void>(specialise(bad, h200)); }) ==
        "invalid_argument: The template's entry is 'sc ale'; it must be the name of an extern "
        "\"C\" __global__ function.");
  bad = scale();
  bad.constants.front().name = "2nd";
  CHECK(caught([&] { static_cast<void>(specialise(bad, h200)); }) ==
        "invalid_argument: A template constant is named '2nd'; it must be a C++ identifier.");
}

TEST_CASE("a template is refused for options that reach beyond its text") {
  for (const char* option :
       {"-arch=sm_80", "--gpu-architecture=sm_80", "-I/tmp", "--include-path=/tmp",
        "--pre-include=x.h", "-include=x.h", "--pch", "--create-pch=x", "--use-pch=x", "-time=x",
        "--time=x", "-dlto", "-rdc=true", "--relocatable-device-code=true", "-dc", "--optix-ir"}) {
    KernelTemplate bad = scale();
    bad.options = {option};
    INFO(option);
    CHECK(contains(caught([&] { static_cast<void>(specialise(bad, h200)); }),
                   "invalid_argument: The template option '" + std::string(option) + "'"));
  }
  KernelTemplate good = scale();
  good.options = {"--use_fast_math", "-DX=1", "--std=c++17", "-lineinfo"};
  CHECK(specialise(good, h200).options == good.options);
}

}  // namespace
}  // namespace jitbag::test
