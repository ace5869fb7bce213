#include "host/row_loops.hpp"

namespace jitbag::host {

RowLoops row_loops(DataType table, DataType output) {
  const auto avx2 = avx2_row_loops(table, output);
  return avx2 ? *avx2 : portable_row_loops(table, output);
}

}  // namespace jitbag::host
