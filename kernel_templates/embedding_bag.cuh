// The body of an embedding bag, its parts in the order in which they use each other.
// clang-format off
#include "bags.cuh"
#include "report.cuh"
#include "rows.cuh"
#include "runs.cuh"
#include "pools.cuh"
#include "outputs.cuh"
#include "pool_bags.cuh"
// clang-format on
