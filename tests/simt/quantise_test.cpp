#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "codegen/quantiser_shape.hpp"
#include "compiled_kernel.hpp"
#include "jitbag/specialisation.hpp"
#include "runtime/forward_grid.hpp"
#include "support/quantise_case.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

using QuantiseRows = void(const float* values, long long num_rows, void* table, void* scales);

/// A quantiser as the C++ compiler made it.
class QuantiserOnCpu {
 public:
  explicit QuantiserOnCpu(const ForwardSpec& spec)
      : spec_(spec),
        source_(quantiser_specialisation(spec, {9, 0})),
        kernel_(compiled(source_)),
        runner_(seed()) {}

  /// With fewer blocks than there are rows for, so that some go on to others. Returns nothing, or
  /// one sentence.
  [[nodiscard]] std::string check(const std::vector<float>& values,
                                  const QuantisedTable& expected) {
    QuantisedTable table(spec_, expected.num_rows);
    const QuantiseArguments with = table.arguments(values.data());
    const QuantiserShape shape = quantiser_shape(spec_);
    const std::int64_t blocks = divided_up(expected.num_rows, shape.rows_per_block());
    auto* const entry = kernel_->entry<QuantiseRows>();
    std::string problem = kernel_->run(
        runner_, {.blocks = divided_up(blocks, 3), .block_threads = shape.block_threads},
        [&] { entry(with.values, with.num_rows, with.table, with.scales); });
    return problem.empty() ? difference(table, expected, spec_) : problem;
  }

 private:
  ForwardSpec spec_;
  Specialisation source_;
  std::shared_ptr<const CompiledKernel> kernel_;
  BlockRunner runner_;
};

/// A few for every block.
std::int64_t number_of_rows(const ForwardSpec& spec) {
  return quantiser_shape(spec).rows_per_block() * 3 + 30;
}

TEST_CASE("the quantiser's kernel makes on the CPU the bytes that host::quantise makes") {
  std::cout << "JITBAG_TEST_SEED=" << seed() << '\n';
  for (const ForwardSpec& spec : quantiser_specs()) {
    INFO(to_text(spec) << " alignment " << spec.alignment);
    QuantiserOnCpu on_cpu(spec);
    std::vector<float> values = rows_to_quantise(number_of_rows(spec), spec.dim, seed());
    const QuantisedTable expected = quantised_on_host(spec, values);
    CHECK(on_cpu.check(values, expected) == "");
    const QuantisedTable spoiled = spoil_rows(spec, expected, values);
    CHECK(on_cpu.check(values, spoiled) == "");
  }
}

}  // namespace
}  // namespace jitbag::test
