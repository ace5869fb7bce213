#include "catch.hpp"
#include "jitbag/specialisation.hpp"
#include "support/caught.hpp"

namespace jitbag::test {
namespace {

TEST_CASE("of a spec only what decides the codes is part of a quantiser's key") {
  ForwardSpec spec;
  spec.dim = 48;
  spec.table_type = DataType::int8;
  spec.row_scale.has_bias = true;
  const Specialisation quantiser = quantiser_specialisation(spec, {9, 0});
  ForwardSpec other = spec;
  other.pooling = Pooling::max;
  other.bags = CsrBags{};
  other.output_type = DataType::float16;
  CHECK(quantiser_specialisation(other, {9, 0}) == quantiser);
  other = spec;
  other.row_stride = 64;
  CHECK(quantiser_specialisation(other, {9, 0}) != quantiser);
  other = spec;
  other.row_scale.type = DataType::float16;
  CHECK(quantiser_specialisation(other, {9, 0}) != quantiser);
}

TEST_CASE("a table without codes has no quantiser") {
  ForwardSpec spec;
  spec.dim = 48;
  CHECK(caught([&] {
          static_cast<void>(quantiser_specialisation(spec, {9, 0}));
        }) ==
        "invalid_argument: table_type is float32, which has no codes; use int8, int4, float8_e4m3 "
        "or float8_e5m2.");
}

}  // namespace
}  // namespace jitbag::test
