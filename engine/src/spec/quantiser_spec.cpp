#include "spec/quantiser_spec.hpp"

#include "spec/refuse.hpp"

namespace jitbag {

ForwardSpec quantiser_spec(const ForwardSpec& spec) {
  ForwardSpec only;
  only.dim = spec.dim;
  only.table_type = spec.table_type;
  only.row_scale = spec.row_scale;
  only.row_stride = spec.row_stride;
  only.alignment = spec.alignment;
  only = validated(only);
  if (!is_quantised(only.table_type)) {
    refuse("table_type is {}, which has no codes; use int8, int4, float8_e4m3 or float8_e5m2.",
           name(only.table_type));
  }
  return only;
}

}  // namespace jitbag
