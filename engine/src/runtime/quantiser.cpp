#include <algorithm>
#include <array>

#include "codegen/quantiser_shape.hpp"
#include "jitbag/quantise.hpp"
#include "runtime/forward_grid.hpp"
#include "spec/arguments.hpp"
#include "spec/quantiser_spec.hpp"

namespace jitbag {

Quantiser::Quantiser(Kernel kernel, const ForwardSpec& spec)
    : kernel_(std::move(kernel)), spec_(quantiser_spec(spec)) {}

void Quantiser::launch(const QuantiseArguments& arguments, Stream stream) const {
  check_arguments(spec_, arguments);
  if (spec_.dim == 0 || arguments.num_rows == 0) return;
  // In the order of the parameters of quantise_rows.
  QuantiseArguments values = arguments;
  const std::array<void*, 4> parameters = {&values.values, &values.num_rows, &values.table,
                                           &values.scales};
  const QuantiserShape shape = quantiser_shape(spec_);
  const std::int64_t blocks = divided_up(arguments.num_rows, shape.rows_per_block());
  kernel_.launch({.blocks_x = static_cast<unsigned>(std::min(blocks, most_blocks)),
                  .threads_x = static_cast<unsigned>(shape.block_threads)},
                 parameters, stream);
}

}  // namespace jitbag
