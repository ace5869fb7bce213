#include "given_bags.hpp"

#include <variant>

#include "support/bags.hpp"
#include "support/caught.hpp"

namespace jitbag::test {
namespace {

PlacedArray table_of(const ForwardSpec& spec) {
  std::vector<double> values;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    for (std::int64_t column = 0; column < spec.dim; ++column) {
      values.push_back(static_cast<double>(row + 1) + 0.5 * static_cast<double>(column));
    }
  }
  return place_elements(values, spec.table_type, 0, false);
}

}  // namespace

ForwardSpec sums(const BagLayout& bags, BadIds policy) {
  return {.dim = 3, .bags = bags, .pooling = Pooling::sum, .bad_ids = policy};
}

ForwardSpec with_pooling(ForwardSpec spec, Pooling pooling) {
  spec.pooling = pooling;
  spec.winners = pooling == Pooling::max;
  spec.mean_length = pooling == Pooling::mean_by_length ? 4 : 0;
  if (pooling == Pooling::mean_by_weights) spec.weight_type = DataType::float32;
  return spec;
}

ForwardCase case_of(const ForwardSpec& spec, std::int64_t batch, const Integers& ids,
                    const Integers& offsets, const std::vector<double>& weights) {
  ForwardCase made;
  made.spec = validated(spec);
  made.batch = batch;
  made.num_rows = num_rows;
  made.input(Input::table) = table_of(spec);
  made.input(Input::ids) = place_integers(ids, spec.id_type, 0, false);
  if (const auto* csr = std::get_if<CsrBags>(&spec.bags)) {
    made.num_ids = static_cast<std::int64_t>(ids.size());
    made.input(Input::offsets) = place_integers(offsets, csr->offset_type, 0, false);
  }
  if (spec.weight_type) {
    made.input(Input::weights) = place_elements(weights, *spec.weight_type, 0, false);
  }
  made.description = to_text(made.spec);
  return made;
}

std::string expected_error(const ForwardCase& forward_case) {
  if (forward_case.spec.bad_ids != BadIds::report) return nothing;
  const auto bad = Bags(forward_case.spec, forward_case.host_arguments()).first_bad_input();
  return bad ? caught([&] { throw bad_input_error(*bad); }) : nothing;
}

}  // namespace jitbag::test
