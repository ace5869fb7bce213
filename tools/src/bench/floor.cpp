#include "bench/floor.hpp"

#include <cmath>

namespace jitbag::tools::bench {

double expected_distinct(double rows, double lookups) {
  if (rows <= 1) return std::fmin(rows, lookups);
  return -rows * std::expm1(lookups * std::log1p(-1 / rows));
}

double all_bytes(const std::vector<Lookups>& tables, double rest) {
  double bytes = rest;
  for (const Lookups& table : tables) bytes += table.lookups * table.row_bytes;
  return bytes;
}

double floor_bytes(const std::vector<Lookups>& tables, double rest) {
  double bytes = rest;
  for (const Lookups& table : tables) bytes += table.distinct * table.row_bytes;
  return bytes;
}

}  // namespace jitbag::tools::bench
