#pragma once

namespace jitbag::tools::bench {

/// The tables of MLPerf's benchmark DLRM-DCNv2: their rows, and the ids that a sample has of each.
inline constexpr const char* dlrm_dcnv2_name = "dlrm_dcnv2";
inline constexpr const char* dlrm_dcnv2 = R"({
  "embedding_dim": 128, "pooling": "sum", "tables": [
    {"table_rows": 40000000, "embedding_bag_size": 3},
    {"table_rows": 39060, "embedding_bag_size": 2},
    {"table_rows": 17295, "embedding_bag_size": 1},
    {"table_rows": 7424, "embedding_bag_size": 2},
    {"table_rows": 20265, "embedding_bag_size": 6},
    {"table_rows": 3, "embedding_bag_size": 1},
    {"table_rows": 7122, "embedding_bag_size": 1},
    {"table_rows": 1543, "embedding_bag_size": 1},
    {"table_rows": 63, "embedding_bag_size": 1},
    {"table_rows": 40000000, "embedding_bag_size": 7},
    {"table_rows": 3067956, "embedding_bag_size": 3},
    {"table_rows": 405282, "embedding_bag_size": 8},
    {"table_rows": 10, "embedding_bag_size": 1},
    {"table_rows": 2209, "embedding_bag_size": 6},
    {"table_rows": 11938, "embedding_bag_size": 9},
    {"table_rows": 155, "embedding_bag_size": 5},
    {"table_rows": 4, "embedding_bag_size": 1},
    {"table_rows": 976, "embedding_bag_size": 1},
    {"table_rows": 14, "embedding_bag_size": 1},
    {"table_rows": 40000000, "embedding_bag_size": 12},
    {"table_rows": 40000000, "embedding_bag_size": 100},
    {"table_rows": 40000000, "embedding_bag_size": 27},
    {"table_rows": 590152, "embedding_bag_size": 10},
    {"table_rows": 12973, "embedding_bag_size": 3},
    {"table_rows": 108, "embedding_bag_size": 1},
    {"table_rows": 36, "embedding_bag_size": 1}]})";

}  // namespace jitbag::tools::bench
