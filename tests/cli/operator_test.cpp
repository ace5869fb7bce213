// The options of the whole operator, from the command line.
#include <fstream>
#include <string>

#include "catch.hpp"
#include "checks.hpp"
#include "program.hpp"

namespace jitbag::test {
namespace {

const std::string small_operator_bench =
    "bench --device cpu --backends cpu --batch 5 --embedding-vocab-size 50 --embedding-dim 8 "
    "--steps 1 --warmup-steps 0 --repeats 1 ";

const std::string known_tables = "bench --device cpu --tables dlrm_dcnv2 ";

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("flags of the operator are refused with the value and what is allowed") {
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"source --pooling median", "'median' is not known, choose sum, mean"},
      {"source --pooling mean_by_length", "mean_length is 0"},
      {"source --pooling mean --mean-length 0", "'0' is not possible"},
      {"source --pooling mean_by_weights", "needs weights"},
      {"source --winners", "without the pooling max"},
      {"source --table-type int7", "'int7' is not known, choose float32"},
      {"source --table-type int8 --row-scale beside", "'beside' is not known, choose apart"},
      {"source --table-type int8 --row-scale in_row", "in_row@OFFSET"},
      {"source --table-type float8_e4m3 --row-scale fbgemm_fused", "fbgemm_fused"},
      {"source --table-type int8 --scale-type float64", "'float64' is not known"},
      {"source --output-type int8", "'int8' is not known"},
      {"source --weight-type int8", "'int8' is not known"},
      {"source --row-stride 3", "row_stride is 3"},
      {"source --output-stride -1", "'-1' is not possible"},
      {"source --alignment 3", "alignment is 3"},
      {"source --id-alignment 4", "id_alignment is 4"},
      {"source --output-alignment 512", "'512' is not possible"},
      {"source --counts nowhere", "at_launch or on_device"},
      {"source --end x;y", "semicolon"},
      {"source --end-row-sum x*x", "row_sum"},
      {"precompile --arch sm_90 --pooling sum,median", "'median'"},
      {"precompile --manifest kernels.json --pooling sum", "--pooling"},
      {"bench --pooling median", "'median'"},
      {"bench --table-type int7", "'int7'"},
      {"bench --layout csr", "--tables"},
      {"bench --tables dlrm_dcnv2 --embedding-dim 64", "--embedding-dim"},
      {"bench --tables dlrm_dcnv2 --embedding-vocab-size 64", "--embedding-vocab-size"},
      {"bench --indices f.npy --tables dlrm_dcnv2", "--tables"},
      {"bench --tables dlrm_dcnv2 --layout ragged", "fixed or csr"},
  };
  for (const auto& [line, part] : refusals) {
    INFO(line);
    require_refused(Program().run(line), part);
  }
}

TEST_CASE("source prints every kind of kernel, without NVRTC") {
  Program program;
  program.set("JITBAG_NVRTC", "/nonexistent/libnvrtc.so");
  for (const std::string more :
       {"--pooling sum+max --winners", "--pooling mean_by_length --mean-length 20",
        "--pooling none", "--pooling mean_by_weights --weight-type float16",
        "--table-type int8 --row-scale fbgemm_inference",
        "--table-type int4 --row-scale apart+bias",
        "--table-type float8_e5m2 --row-scale none --output-type bfloat16",
        "--dtype float64 --row-stride 80 --output-stride 72", "--counts on_device --layout csr",
        "--alignment 4 --id-alignment 8 --output-alignment 4"}) {
    INFO(more);
    const Outcome outcome = program.run("source --operator embedding_bag " + more);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.out, "__global__"));
  }
  const Outcome end =
      program.run("source", {"--end", "x * rsqrtf(row_sum + 1e-12f)", "--end-row-sum", "x * x"});
  CHECK(contains(end.out, "x * rsqrtf(row_sum + 1e-12f)"));
}

TEST_CASE("precompile makes every pooling and every type of table, and then finds them") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const std::string shape = "precompile --arch sm_90 --embedding-dim 16 --embedding-bag-size 3 ";
  const std::vector<std::pair<std::string, int>> lists = {
      {"--pooling sum,mean,mean_by_sqrt,max,none,sum+max", 6},
      {"--table-type float64,float32,float16,bfloat16,int8,int4,float8_e4m3,float8_e5m2 "
       "--output-type float16",
       8},
      {"--table-type int8,int4 --row-scale fbgemm_inference,apart+bias", 4},
      {"--pooling mean_by_weights --weight-type float32,bfloat16", 2},
  };
  for (const auto& [more, kernels] : lists) {
    INFO(more);
    const nlohmann::json cold = require_json(program.run(shape + more));
    CHECK(cold["compiled"] == kernels);
    CHECK(cold["failed"] == 0);
    const nlohmann::json warm = require_json(program.run(shape + more));
    CHECK(warm["cached"] == kernels);
    CHECK(warm["compiled"] == 0);
  }
}

TEST_CASE("precompile makes one kernel for a set of tables, and then finds it") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const std::string file = program.folder().file("kernels.json");
  write(file, R"({"jitbag_manifest": 1, "arch": "sm_90", "kernels": [
    {"bags": "joined", "outputs": "side_by_side", "dtype": "float16", "pooling": "sum",
     "tables": [{"embedding_dim": 16, "embedding_bag_size": 1, "table_rows": 59, "count": 8},
                {"embedding_dim": 32, "embedding_bag_size": 20, "pooling": "mean"}]}]})");
  const nlohmann::json cold = require_json(program.run("precompile --manifest " + file));
  CHECK(cold["compiled"] == 1);
  CHECK(contains(cold["kernels"][0]["spec"].get<std::string>(), "9 tables, bags joined"));
  CHECK(require_json(program.run("precompile --manifest " + file))["cached"] == 1);
  const nlohmann::json listed = require_json(program.run("cache list"));
  CHECK(contains(listed["records"][0]["spec"].get<std::string>(), "9 tables"));
}

TEST_CASE("bench is right for every pooling, weights, type of table and type of output") {
  for (const std::string more :
       {"--pooling sum", "--pooling max", "--pooling none", "--pooling mean_by_sqrt",
        "--pooling mean_by_length --mean-length 4", "--pooling sum+mean+max",
        "--pooling mean_by_weights --weight-type float16", "--pooling sum --weight-type bfloat16",
        "--dtype float64", "--dtype float16 --output-type float32", "--table-type int8",
        "--table-type int8 --row-scale apart+bias --scale-type float16",
        "--table-type int4 --row-scale fbgemm_inference",
        "--table-type int8 --row-scale fbgemm_fused", "--table-type float8_e4m3",
        "--table-type float8_e5m2 --row-scale none", "--dtype float16 --row-stride 12"}) {
    INFO(more);
    const nlohmann::json document = require_json(Program().run(small_operator_bench + more));
    CHECK(document["results"][0]["status"] == "ok");
  }
  const nlohmann::json document = require_json(
      Program().run(small_operator_bench + "--dtype float16 --table-type int8 --pooling sum "
                                           "--weight-type float32"));
  CHECK(document["table_type"] == "int8");
  CHECK(document["output_type"] == "float16");
  CHECK(document["weight_type"] == "float32");
  CHECK(document["pooling"] == "sum");
  CHECK(document["dtype"] == "float16");
}

TEST_CASE("bench without pooling compares the rows of ids in a bag, and no others") {
  const TemporaryFolder folder;
  write_npy<std::int32_t>(folder.file("ids.npy"), "(6,)", {9, 3, 1, 4, 1, 5});
  write_npy<std::int64_t>(folder.file("offsets.npy"), "(3,)", {1, 2, 4});
  const nlohmann::json document = require_json(Program().run(
      "bench --device cpu --backends cpu --steps 1 --repeats 1 --pooling none --indices " +
      folder.file("ids.npy") + " --offsets " + folder.file("offsets.npy")));
  CHECK(document["results"][0]["status"] == "ok");
}

TEST_CASE("bytes moved count weights and scales") {
  const auto bytes = [](const std::string& more) {
    return require_json(Program().run(small_operator_bench + "--embedding-padding-prob 0 " + more))
        .at("results")[0]
        .at("bytes_moved")
        .get<double>();
  };
  const double ids = 5 * 4 * 8;
  const double output = 5 * 8 * 4;
  CHECK(bytes("") == 20 * 8 * 4 + ids + output);
  CHECK(bytes("--pooling sum --weight-type float32") == 20 * (8 * 4 + 4) + ids + output);
  CHECK(bytes("--table-type int8 --row-scale apart+bias") == 20 * (8 + 8) + ids + output);
}

TEST_CASE("many tables are unsupported without a GPU, and their bytes are told all the same") {
  const nlohmann::json document =
      require_json(Program().run(known_tables + "--batch 65536 --dtype float16 --layout csr"));
  CHECK(document["tables"] == "dlrm_dcnv2");
  CHECK(document["table_count"] == 26);
  CHECK(document["layout"] == "csr");
  CHECK(document["num_ids"] == 65536 * 214);
  CHECK(document["output_width"] == 26 * 128);
  const double rest = 65536.0 * 214 * 8 + (65536.0 * 26 + 1) * 8 + 65536.0 * 26 * 128 * 2;
  CHECK(document["bytes_moved"] == 65536.0 * 214 * 256 + rest);
  CHECK(document["floor_bytes"].get<double>() < document["bytes_moved"].get<double>());
  CHECK(document["floor_bytes"].get<double>() > 65536.0 * 149 * 256 * 0.9 + rest);
  REQUIRE(document["results"].size() == 2);
  for (const nlohmann::json& result : document["results"]) {
    CHECK(result["status"] == "unsupported");
    CHECK(contains(result["error"].get<std::string>(), "GPU"));
    CHECK(result["share_of_floor"].is_null());
  }
}

TEST_CASE("many tables from a file, with ids made or real") {
  const TemporaryFolder folder;
  write_npy<std::int32_t>(folder.file("ids.npy"), "(6,)", {9, 3, 1, 4, 1, 5});
  write_npy<std::int64_t>(folder.file("offsets.npy"), "(3,)", {1, 2, 4});
  write_npy<std::int64_t>(folder.file("four.npy"), "(4,)", {0, 1, 2, 4});
  const auto run = [&](const std::string& tables) {
    write(folder.file("tables.json"), R"({"embedding_dim": 8, "tables": [)" + tables + "]}");
    return Program().run("bench --device cpu --batch 7 --tables " + folder.file("tables.json"));
  };
  const std::string real = R"({"indices": "ids.npy", "offsets": "offsets.npy"})";
  const nlohmann::json random =
      require_json(run(R"({"table_rows": 10, "embedding_bag_size": 3, "count": 4},
                          {"table_rows": 5, "embedding_bag_size": 2, "embedding_dim": 16})"));
  CHECK(random["batch"] == 7);
  CHECK(random["num_ids"] == 7 * (4 * 3 + 2));
  CHECK(random["output_width"] == 4 * 8 + 16);
  const nlohmann::json traced = require_json(run(real + "," + real));
  CHECK(traced["batch"] == 2);
  CHECK(traced["layout"] == "csr");
  CHECK(traced["num_ids"] == 6);
  CHECK(traced["table_list"][1]["table_rows"] == 10);
  require_refused(run(R"({"embedding_bag_size": 3})"), "lacks table_rows for table 0");
  require_refused(run(R"({"table_rows": 10})"), "embedding_bag_size is missing");
  require_refused(run(R"({"table_rows": 10, "layout": "csr"})"), "csr bags without ids");
  require_refused(run(real + R"(, {"table_rows": 10, "embedding_bag_size": 3})"),
                  "for some tables");
  require_refused(run(R"({"offsets": "offsets.npy"})"), "offsets without indices");
  require_refused(run(real + R"(, {"indices": "ids.npy", "offsets": "four.npy"})"),
                  "3 bags for table 1 and 2 for table 0");
  require_refused(run(R"({"table_rows": 10, "embedding_bag_size": 3, "pooling": "none"})"),
                  "without pooling");
  require_refused(run(R"({"rows": 10})"), "\"rows\", which is not known");
  require_failed(run(R"({"indices": "absent.npy", "offsets": "offsets.npy"})"), "absent.npy");
}

}  // namespace jitbag::test
