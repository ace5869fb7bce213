#include "precompile/manifest.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "catch.hpp"
#include "kernel_lists.hpp"

namespace jitbag::tools {
namespace {

const Target sm_80{8, 0};
const Target sm_90{9, 0};

std::vector<KernelRequest> requests(const std::string& manifest,
                                    const std::vector<Target>& targets = {}) {
  return kernel_requests(parse_manifest(manifest, "kernels.json", targets));
}

const ForwardSpec& forward(const KernelRequest& request) {
  return std::get<ForwardSpec>(request.spec);
}

const TablesSpec& tables(const KernelRequest& request) {
  return std::get<TablesSpec>(request.spec);
}

/// A manifest with one kernel entry.
std::string with(const std::string& entry, const std::string& arch = R"(["sm_90"])") {
  return R"({"jitbag_manifest": 1, "arch": )" + arch + R"(, "kernels": [)" + entry + "]}";
}

std::string refusal(const std::string& manifest) {
  try {
    return "nothing, " + std::to_string(requests(manifest).size()) + " kernels";
  } catch (const UsageError& error) {
    return error.what();
  }
}

void check_refused(const std::string& manifest, const std::string& part) {
  const std::string sentence = refusal(manifest);
  INFO(manifest.substr(0, 200) << "\n" << sentence << "\nlacks " << part);
  CHECK(sentence.rfind("kernels.json: ", 0) == 0);
  CHECK(sentence.find(part) != std::string::npos);
  CHECK(sentence.find('\n') == std::string::npos);
  CHECK(sentence.size() < 1000);
}

std::vector<std::int64_t> dims(const std::string& list) {
  std::vector<std::int64_t> dims;
  for (const KernelRequest& request :
       requests(with(R"({"embedding_bag_size": 1, "embedding_dim": )" + list + "}")))
    dims.push_back(forward(request).dim);
  return dims;
}

}  // namespace

TEST_CASE("a manifest and the flags with its names make the same kernels") {
  KernelFlags flags;
  flags.values["embedding_dim"] = "16,24";
  flags.values["embedding_bag_size"] = "1,2,4";
  flags.values["dtype"] = "float16,bfloat16";
  flags.values["id_type"] = "int32,int64";
  flags.values["padding_id"] = "none";
  flags.values["bad_ids"] = "report";
  flags.values["addressing"] = "32,64";
  flags.values["expected_batch"] = "9000";
  CHECK(requests(with(R"({"embedding_dim": [16, 24],
                          "embedding_bag_size": {"from": 1, "to": 4, "times": 2},
                          "dtype": ["float16", "bfloat16"], "id_type": ["int32", "int64"],
                          "padding_id": null, "bad_ids": "report", "addressing": [32, 64],
                          "expected_batch": 9000})",
                      R"(["sm_80", "sm_90"])")) ==
        kernel_requests({kernel_lists(flags, {sm_80, sm_90})}));

  KernelFlags csr;
  csr.values["layout"] = "csr";
  csr.values["offset_type"] = "int32,int64";
  csr.values["offsets_end"] = "implied";
  csr.values["strategy"] = to_text(Strategy{});
  CHECK(requests(with(R"({"operator": "embedding_bag_mean", "pooling": "mean",
                          "embedding_dim": 64, "layout": "csr",
                          "offset_type": ["int32", "int64"], "offsets_end": "implied",
                          "strategy": ")" +
                      to_text(Strategy{}) + R"("})")) ==
        kernel_requests({kernel_lists(csr, {sm_90})}));

  KernelFlags odd;
  odd.operator_name = embedding_bag;
  odd.values["embedding_dim"] = "48";
  odd.values["pooling"] = "sum+mean_by_weights,mean";
  odd.values["dtype"] = "float16";
  odd.values["table_type"] = "int8,int4";
  odd.values["row_scale"] = "fbgemm_inference,apart+bias,in_row+bias@48";
  odd.values["scale_type"] = "float16";
  odd.values["output_type"] = "float32,float64";
  odd.values["weight_type"] = "bfloat16";
  odd.values["row_stride"] = "64";
  odd.values["output_stride"] = "128";
  odd.values["alignment"] = "8";
  odd.values["id_alignment"] = "16";
  odd.values["output_alignment"] = "16";
  odd.values["counts"] = "on_device";
  odd.values["end"] = "x * fmaxf(row_sum, 1e-6f)";
  odd.values["end_row_sum"] = "x * x";
  const auto all = requests(with(R"json({"operator": "embedding_bag", "embedding_dim": 48,
      "embedding_bag_size": 4, "pooling": ["sum+mean_by_weights", "mean"], "dtype": "float16",
      "table_type": ["int8", "int4"],
      "row_scale": ["fbgemm_inference", "apart+bias", "in_row+bias@48"], "scale_type": "float16",
      "output_type": ["float32", "float64"], "weight_type": "bfloat16", "row_stride": 64,
      "output_stride": 128, "alignment": 8, "id_alignment": 16, "output_alignment": 16,
      "counts": "on_device", "end": "x * fmaxf(row_sum, 1e-6f)", "end_row_sum": "x * x"})json"));
  CHECK(all == kernel_requests({kernel_lists(odd, {sm_90})}));
  CHECK(all.size() == 2 * 2 * 3 * 2);
  const ForwardSpec expected = validated({.dim = 48,
                                          .bags = FixedBags{4},
                                          .pooling = {Pooling::sum, Pooling::mean_by_weights},
                                          .table_type = DataType::int8,
                                          .row_scale = fbgemm::inference_row(),
                                          .output_type = DataType::float32,
                                          .weight_type = DataType::bfloat16,
                                          .padding_id = 0,
                                          .row_stride = 64,
                                          .output_stride = 128,
                                          .alignment = 8,
                                          .id_alignment = 16,
                                          .output_alignment = 16,
                                          .addressing = Addressing::bits32,
                                          .counts = Counts::on_device,
                                          .end = {"x * fmaxf(row_sum, 1e-6f)", "x * x"}});
  INFO(spec_text(all.front()));
  CHECK(forward(all.front()) == expected);

  KernelFlags max;
  max.values["pooling"] = "max";
  max.values["winners"] = "true";
  const auto winners = requests(with(R"({"embedding_dim": 64, "embedding_bag_size": 4,
                                         "pooling": "max", "winners": true})"));
  CHECK(winners == kernel_requests({kernel_lists(max, {sm_90})}));
  CHECK(forward(winners.front()).winners);
}

TEST_CASE("every axis has a name, and a value of its own that both flags and manifests take") {
  for (const KernelAxis& axis : kernel_axes()) {
    INFO(axis.name);
    CHECK(&kernel_axis(axis.name) == &axis);
    if (axis.otherwise.empty()) continue;
    std::string text = axis.otherwise;
    CHECK(value_of(axis)(text).empty());
  }
}

TEST_CASE("the type of table and output is that of dtype unless they are given") {
  const auto spec_with = [](const std::string& more) {
    return forward(
        requests(with(R"({"embedding_dim": 32, "embedding_bag_size": 4)" + more + "}")).front());
  };
  CHECK(spec_with(R"(, "dtype": "float16")").output_type == DataType::float16);
  const ForwardSpec quantised = spec_with(R"(, "table_type": "int8")");
  CHECK(quantised.table_type == DataType::int8);
  CHECK(quantised.output_type == DataType::float32);
  CHECK(quantised.row_scale == RowScale{});
  CHECK(spec_with(R"(, "dtype": "float16", "table_type": "int8")").output_type ==
        DataType::float16);
  CHECK(spec_with(R"(, "dtype": "float16", "output_type": "float64")").table_type ==
        DataType::float16);
}

TEST_CASE("the layouts that FBGEMM writes follow from dim and type") {
  const auto spec_with = [](const std::string& type, const std::string& scale) {
    return forward(
        requests(with(R"({"embedding_dim": 34, "embedding_bag_size": 4, "table_type": ")" + type +
                      R"(", "row_scale": ")" + scale + "\"}"))
            .front());
  };
  CHECK(spec_with("int8", "fbgemm_fused").row_scale == fbgemm::fused_8bit_row(34));
  CHECK(spec_with("int4", "fbgemm_fused").row_scale == fbgemm::fused_4bit_row(34));
  CHECK(spec_with("int8", "fbgemm_inference").row_scale == fbgemm::inference_row());
  CHECK(spec_with("int8", "fbgemm_inference").row_stride == 48);
  CHECK(spec_with("int4", "fbgemm_inference").row_stride == 32);
  CHECK(spec_with("float8_e4m3", "fbgemm_inference").row_scale.place == RowScale::Place::nowhere);
  CHECK(spec_with("float8_e4m3", "fbgemm_inference").row_stride == 48);
  const RowScale explicitly = {RowScale::Place::in_row, DataType::float32, true, 0, 8};
  CHECK(spec_with("int8", "in_row+bias@0:codes@8").row_scale == explicitly);
}

TEST_CASE("an entry with tables is one kernel for all of them") {
  const auto all = requests(with(R"({"bags": "joined", "outputs": "side_by_side",
      "expected_batch": [null, 4096], "dtype": "float16", "pooling": "sum", "arch": "sm_80",
      "tables": [{"embedding_dim": 16, "embedding_bag_size": 1, "table_rows": 59, "count": 3},
                 {"embedding_dim": 32, "embedding_bag_size": 20, "pooling": "mean+max",
                  "table_type": "int8", "table_rows": 40000000}]})"));
  REQUIRE_FALSE(all.empty());
  CHECK(all.front().target == sm_80);
  const TablesSpec& set = tables(all.front());
  REQUIRE(set.tables.size() == 4);
  CHECK(set.bags == TablesSpec::Bags::joined);
  CHECK(set.outputs == TablesSpec::Outputs::side_by_side);
  CHECK(set.tables[2] == set.tables[0]);
  CHECK(set.tables[0].pooling == Poolings(Pooling::sum));
  CHECK(set.tables[3].pooling == Poolings{Pooling::mean, Pooling::max});
  CHECK(set.tables[3].table_type == DataType::int8);
  CHECK(set.tables[3].output_type == DataType::float16);
  REQUIRE(set.expected.size() == 4);
  CHECK(set.expected[2].num_rows == 59);
  CHECK(set.expected[3].num_rows == 40000000);
  CHECK(all.front().strategies.size() == 4);
}

TEST_CASE("csr tables of a set may say how long their bags are") {
  const auto all = requests(with(R"({"layout": "csr", "embedding_dim": 8,
      "tables": [{"mean_bag_size": 7}, {"mean_bag_size": 70, "offset_type": "int32"}]})"));
  REQUIRE(all.size() == 1);
  CHECK(tables(all.front()).expected[0].bag_size == 7);
  CHECK(tables(all.front()).bags == TablesSpec::Bags::separate);
}

TEST_CASE("what a manifest leaves out is as the flags leave it") {
  CHECK(requests(with(R"({"embedding_dim": 64, "embedding_bag_size": 4})")) ==
        kernel_requests({kernel_lists(KernelFlags{}, {sm_90})}));
}

TEST_CASE("ranges hold their end where the steps meet it") {
  using Dims = std::vector<std::int64_t>;
  CHECK(dims(R"({"from": 32, "to": 128, "step": 32})") == Dims{32, 64, 96, 128});
  CHECK(dims(R"({"from": 1, "to": 70, "times": 2})") == Dims{1, 2, 4, 8, 16, 32, 64});
  CHECK(dims(R"({"from": 5, "to": 5, "step": 9223372036854775807})") == Dims{5});
  CHECK(dims(R"({"from": 5, "to": 1000, "times": 9223372036854775807})") == Dims{5});
  CHECK(dims(R"([3, {"from": 8, "to": 9, "step": 1}, 3])") == Dims{3, 8, 9});
  const auto padded = requests(with(
      R"({"embedding_dim": 8, "embedding_bag_size": 1, "padding_id":
          [null, {"from": -9223372036854775808, "to": 9223372036854775807,
                  "step": 9223372036854775807}]})"));
  REQUIRE(padded.size() == 4);
  CHECK(forward(padded[0]).padding_id == std::nullopt);
  CHECK(forward(padded[1]).padding_id == std::numeric_limits<std::int64_t>::min());
  CHECK(forward(padded[2]).padding_id == -1);
  CHECK(forward(padded[3]).padding_id == std::numeric_limits<std::int64_t>::max() - 1);
}

TEST_CASE("a kernel that is asked for twice is there once") {
  const std::string entry = R"({"embedding_dim": [8, 8], "embedding_bag_size": 2})";
  CHECK(requests(with(entry + ", " + entry)).size() == 1);
}

TEST_CASE("an entry's architectures stand for the manifest's, and those given stand for both") {
  const std::string manifest = with(R"({"embedding_dim": 8, "embedding_bag_size": 1},
              {"embedding_dim": 9, "embedding_bag_size": 1, "arch": "sm_80"})");
  const auto own = requests(manifest);
  REQUIRE(own.size() == 2);
  CHECK(own[0].target == sm_90);
  CHECK(own[1].target == sm_80);
  for (const KernelRequest& request : requests(manifest, {Target{10, 0}}))
    CHECK(request.target == Target{10, 0});
}

TEST_CASE("both layouts in one entry make the kernels of both") {
  const auto all = requests(
      with(R"({"layout": ["fixed", "csr"], "embedding_dim": 8, "embedding_bag_size": [1, 2]})"));
  REQUIRE(all.size() == 3);
  CHECK(std::holds_alternative<CsrBags>(forward(all[2]).bags));
}

TEST_CASE("a manifest that cannot be meant is refused with its place and what is allowed") {
  const std::string shape = R"("embedding_dim": 8, "embedding_bag_size": 1)";
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"", "line 1, column 1"},
      {"{\n  \"jitbag_manifest\": 1,\n  kernels", "line 3, column 3"},
      {"[]", "the file is []; give an object"},
      {"{}", "jitbag_manifest is missing"},
      {R"({"jitbag_manifest": 2, "kernels": []})", "jitbag_manifest is 2"},
      {R"({"jitbag_manifest": "1", "kernels": []})", "jitbag_manifest is \"1\""},
      {R"({"jitbag_manifest": 1, "kernels": []})", "kernels is []; give at least one"},
      {R"({"jitbag_manifest": 1, "kernels": [{}], "architectures": "sm_90"})",
       "\"architectures\", which is not known; choose jitbag_manifest, arch or kernels"},
      {R"({"jitbag_manifest": 1, "kernels": [{)" + shape + "}]}", "kernels[0].arch is missing"},
      {R"({"jitbag_manifest": 1, "jitbag_manifest": 1})", "\"jitbag_manifest\" stands twice"},
      {with("{}"), "kernels[0].embedding_dim is missing"},
      {with("7"), "kernels[0] is 7; give an object"},
      {with(R"({"embedding_dim": 8})"), "kernels[0].embedding_bag_size is missing"},
      {with(R"({"dim": 8})"), "kernels[0] has \"dim\", which is not known"},
      {with(R"({"embedding_dim": [8, 0], "embedding_bag_size": 1})"),
       "kernels[0].embedding_dim[1] is 0; give a whole number from 1 to 1048576"},
      {with(R"({"embedding_dim": 8.5, "embedding_bag_size": 1})"), "embedding_dim is 8.5"},
      {with(R"({"embedding_dim": 1e400, "embedding_bag_size": 1})"), "too large"},
      {with(R"({"embedding_dim": 99999999999999999999, "embedding_bag_size": 1})"),
       "kernels[0].embedding_dim is"},
      {with(R"({"embedding_dim": 18446744073709551615, "embedding_bag_size": 1})"),
       "is 18446744073709551615"},
      {with(R"({"embedding_dim": NaN, "embedding_bag_size": 1})"), "not JSON"},
      {with(R"({"embedding_dim": "8", "embedding_bag_size": 1})"), "embedding_dim is \"8\""},
      {with(R"({"embedding_dim": [], "embedding_bag_size": 1})"), "embedding_dim is []"},
      {with(R"({"embedding_dim": [[8]], "embedding_bag_size": 1})"), "embedding_dim[0] is [8]"},
      {with(R"({"embedding_dim": 8, "embedding_bag_size": -1})"), "embedding_bag_size is -1"},
      {with(R"({"embedding_dim": {"from": 8}, "embedding_bag_size": 1})"),
       "kernels[0].embedding_dim.to is missing"},
      {with(R"({"embedding_dim": {"from": 8, "to": 16}, "embedding_bag_size": 1})"), "either step"},
      {with(R"({"embedding_dim": {"from": 8, "to": 16, "step": 1, "times": 2}})"), "either step"},
      {with(R"({"embedding_dim": {"from": 8, "to": 16, "step": 0}})"), "embedding_dim.step is 0"},
      {with(R"({"embedding_dim": {"from": 8, "to": 16, "times": 1}})"), "embedding_dim.times is 1"},
      {with(R"({"embedding_dim": {"from": 16, "to": 8, "step": 1}})"), "not above to"},
      {with(R"({"embedding_dim": {"from": 8, "to": 16, "by": 1}})"), "\"by\", which is not known"},
      {with(R"({"embedding_dim": 8, "embedding_bag_size": {"from": 0, "to": 8, "times": 2}})"),
       "a from of at least 1"},
      {with(R"({"layout": "csr", "embedding_dim": 8, "embedding_bag_size": 1})"),
       "it has no use here: leave it out, or add \"fixed\" to layout"},
      {with("{" + shape + R"(, "offset_type": "int32"})"), "add \"csr\" to layout"},
      {with("{" + shape + R"(, "layout": "ragged"})"), "choose fixed or csr"},
      {with("{" + shape + R"(, "pooling": ["mean", "median"]})"),
       "kernels[0].pooling[1] is \"median\"; give sum, mean"},
      {with("{" + shape + R"(, "pooling": "sum+sum"})"), "The pooling sum is there twice"},
      {with("{" + shape + R"(, "pooling": "sum+"})"), "pooling is \"sum+\"; give sum"},
      {with("{" + shape + R"(, "pooling": "mean_by_length"})"), "mean_length is 0"},
      {with("{" + shape + R"(, "mean_length": 5})"), "mean_length is 5"},
      {with("{" + shape + R"(, "winners": true})"), "winners"},
      {with("{" + shape + R"(, "winners": 1})"), "choose false or true"},
      {with("{" + shape + R"(, "weight_type": "int8"})"), "weight_type is \"int8\"; choose none"},
      {with("{" + shape + R"(, "pooling": "max", "weight_type": "float32"})"), "no use for"},
      {with("{" + shape + R"(, "table_type": "int8", "row_scale": "beside"})"),
       "row_scale is \"beside\"; give apart"},
      {with("{" + shape + R"(, "table_type": "int8", "row_scale": "in_row@x"})"), "in_row@OFFSET"},
      {with("{" + shape + R"(, "table_type": "int8", "row_scale": "in_row@3"})"),
       "among the codes"},
      {with("{" + shape + R"(, "table_type": "float8_e5m2", "row_scale": "fbgemm_fused"})"),
       "fbgemm_fused is of int8 and int4"},
      {with("{" + shape + R"(, "output_type": "int8"})"),
       "output_type is \"int8\"; choose float32"},
      {with("{" + shape + R"(, "row_stride": 7})"), "row_stride is 7"},
      {with("{" + shape + R"(, "alignment": 3})"), "alignment is 3"},
      {with("{" + shape + R"(, "counts": "somewhere"})"), "choose at_launch or on_device"},
      {with("{" + shape + R"(, "end": "x; y"})"), "semicolon"},
      {with("{" + shape + R"(, "end": "x +\n y"})"), "line break"},
      {with("{" + shape + R"(, "end": ")" + std::string(5000, 'x') + R"(;"})"), "xxx…"},
      {with("{" + shape + R"(, "end": 1})"), "give a CUDA expression, or none"},
      {with("{" + shape + R"(, "end_row_sum": "x * x"})"), "row_sum"},
      {with(R"({"tables": []})"), "kernels[0].tables is []"},
      {with(R"({"tables": [{}]})"), "kernels[0].tables[0].embedding_dim is missing"},
      {with(R"({"tables": [{"embedding_dim": 8}]})"),
       "kernels[0].tables[0].embedding_bag_size is missing"},
      {with(R"({"tables": [{"embedding_dim": [8, 16], "embedding_bag_size": 1}]})"),
       "kernels[0].tables[0].embedding_dim is [8,16]; give one value"},
      {with(R"({"tables": [{)" + shape + R"(, "count": 0}]})"), "tables[0].count is 0"},
      {with(R"({"tables": [{)" + shape + R"(, "count": 99999}, {)" + shape + R"(, "count": 2}]})"),
       "more than 100000 tables"},
      {with(R"({"tables": [{)" + shape + R"(, "strategy": null}]})"),
       "\"strategy\", which is not known"},
      {with(R"({"tables": [{)" + shape + R"(}], "bags": "mixed"})"), "choose separate or joined"},
      {with(R"({"tables": [{)" + shape + R"(}], "bags": ["joined"]})"), "choose one: separate"},
      {with(R"({"tables": [{)" + shape + R"(}], "expected_batch": 0})"), "expected_batch is 0"},
      {with(R"({"bags": "joined", "tables": [{)" + shape +
            R"(}, {"layout": "csr", "embedding_dim": 8}]})"),
       "Table 1 has other bags"},
      {with("{" + shape + R"(, "operator": "embedding"})"),
       "choose embedding_bag or embedding_bag_mean"},
      {with("{" + shape + R"(, "dtype": ["float16", "float7"]})"), "dtype[1] is \"float7\""},
      {with("{" + shape + R"(, "padding_id": "none"})"), "a whole number, a range or null"},
      {with("{" + shape + R"(, "padding_id": 3000000000, "id_type": "int32"})"),
       "kernels[0]: padding_id is 3000000000"},
      {with("{" + shape + R"(, "addressing": 16})"), "choose 32 or 64"},
      {with("{" + shape + R"(, "bad_ids": null})"), "choose skip, report or trust"},
      {with("{" + shape + R"(, "expected_batch": 0})"), "expected_batch is 0"},
      {with("{" + shape + R"(, "strategy": "fast"})"), "kernels[0].strategy is \"fast\""},
      {with(R"({"embedding_dim": 3, "embedding_bag_size": 1, "strategy": ")" + to_text(Strategy{}) +
            "\"}"),
       "kernels.json: kernels[0]: "},
      {with("{" + shape + "}", R"("sm_1")"), "arch is \"sm_1\""},
      {with("{" + shape + "}", "90"), "arch is 90"},
      {with("{" + shape + "}", "[]"), "arch is []"},
  };
  for (const auto& [manifest, part] : refusals) check_refused(manifest, part);
}

TEST_CASE("a slip that would make more kernels than anyone compiles is refused at once") {
  check_refused(with(R"({"embedding_dim": {"from": 1, "to": 1048576, "step": 1},
                         "embedding_bag_size": {"from": 0, "to": 1048576, "step": 1}})"),
                "more than 1000000");
  check_refused(with(R"({"embedding_dim": 8, "embedding_bag_size": 1, "padding_id":
                         {"from": 0, "to": 9223372036854775807, "step": 1}})"),
                "more than 1000000");
  check_refused(with(R"({"embedding_dim": {"from": 1, "to": 1001, "step": 1},
                         "embedding_bag_size": {"from": 0, "to": 1000, "step": 1}})"),
                "these are more than 1000000 kernels");
  // Each entry alone would do.
  std::string entries;
  for (int i = 0; i < 101; ++i)
    entries += std::string(i == 0 ? "" : ",") +
               R"({"embedding_dim": {"from": 1, "to": 10000, "step": 1}, "embedding_bag_size": 1})";
  check_refused(with(entries), "kernels[100]: these are more than 1000000 kernels");
}

TEST_CASE("deep nesting, long names and odd characters are refused and not repeated whole") {
  check_refused(std::string(100'000, '['), "nested over 16 deep");
  check_refused(with(R"({"embedding_dim": )" + std::string(40, '[') + std::string(40, ']') + "}"),
                "nested over 16 deep");
  check_refused(with("{\"" + std::string(5000, 'x') + "\": 1}"), "not known");
  check_refused(with(R"({"\n\u001b[2J": 1})"), R"("\n\u001b[2J")");
  check_refused(with("{\"\xff\": 1}"), "not JSON");
}

TEST_CASE("of an expected batch the power of two below it counts, as for the engine") {
  const auto strategy_for = [](const std::string& batch) {
    return requests(with(R"({"embedding_dim": 32, "embedding_bag_size": 64, "dtype": "float16",
                             "expected_batch": )" +
                         batch + "}"))
        .front()
        .strategies;
  };
  CHECK(strategy_for("9000") == strategy_for("8192"));
  CHECK_FALSE(strategy_for("1") == strategy_for("1048576"));
}

}  // namespace jitbag::tools
