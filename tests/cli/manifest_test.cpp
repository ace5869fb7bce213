#include "precompile/manifest.hpp"

#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "catch.hpp"

namespace jitbag::tools {
namespace {

const Target sm_80{8, 0};
const Target sm_90{9, 0};

std::vector<KernelRequest> requests(const std::string& manifest,
                                    const std::vector<Target>& targets = {}) {
  return kernel_requests(parse_manifest(manifest, "kernels.json", targets));
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
  CHECK(sentence.size() < 500);
}

std::vector<std::int64_t> dims(const std::string& list) {
  std::vector<std::int64_t> dims;
  for (const KernelRequest& request :
       requests(with(R"({"embedding_bag_size": 1, "embedding_dim": )" + list + "}")))
    dims.push_back(request.spec.dim);
  return dims;
}

}  // namespace

TEST_CASE("a manifest and the flags with its names make the same kernels") {
  KernelFlags flags;
  flags.dims = "16,24";
  flags.bag_sizes = "1,2,4";
  flags.data_types = "float16,bfloat16";
  flags.id_types = "int32,int64";
  flags.padding_id = "none";
  flags.bad_ids = "report";
  flags.addressing = "32,64";
  flags.expected_batch = 9000;
  CHECK(requests(with(R"({"embedding_dim": [16, 24],
                          "embedding_bag_size": {"from": 1, "to": 4, "times": 2},
                          "dtype": ["float16", "bfloat16"], "id_type": ["int32", "int64"],
                          "padding_id": null, "bad_ids": "report", "addressing": [32, 64],
                          "expected_batch": 9000})",
                      R"(["sm_80", "sm_90"])")) ==
        kernel_requests({kernel_lists(flags, {sm_80, sm_90})}));

  KernelFlags csr;
  csr.dims = "64";
  csr.layout = "csr";
  csr.offset_types = "int32,int64";
  csr.offsets_end = "implied";
  csr.strategy = to_text(Strategy{});
  CHECK(requests(with(R"({"operator": "embedding_bag_mean", "pooling": "mean",
                          "embedding_dim": 64, "layout": "csr",
                          "offset_type": ["int32", "int64"], "offsets_end": "implied",
                          "strategy": ")" +
                      to_text(Strategy{}) + R"("})")) ==
        kernel_requests({kernel_lists(csr, {sm_90})}));
}

TEST_CASE("what a manifest leaves out is as the flags leave it") {
  CHECK(requests(with(R"({"embedding_dim": 64, "embedding_bag_size": 4})")) ==
        kernel_requests({kernel_lists(KernelFlags{}, {sm_90})}));
}

TEST_CASE("ranges hold their end where the steps meet it") {
  using Numbers = std::vector<std::int64_t>;
  CHECK(dims(R"({"from": 32, "to": 128, "step": 32})") == Numbers{32, 64, 96, 128});
  CHECK(dims(R"({"from": 1, "to": 70, "times": 2})") == Numbers{1, 2, 4, 8, 16, 32, 64});
  CHECK(dims(R"({"from": 5, "to": 5, "step": 9223372036854775807})") == Numbers{5});
  CHECK(dims(R"({"from": 5, "to": 1000, "times": 9223372036854775807})") == Numbers{5});
  CHECK(dims(R"([3, {"from": 8, "to": 9, "step": 1}, 3])") == Numbers{3, 8, 9});
  const auto padded = requests(with(
      R"({"embedding_dim": 8, "embedding_bag_size": 1, "padding_id":
          [null, {"from": -9223372036854775808, "to": 9223372036854775807,
                  "step": 9223372036854775807}]})"));
  REQUIRE(padded.size() == 4);
  CHECK(padded[0].spec.padding_id == std::nullopt);
  CHECK(padded[1].spec.padding_id == std::numeric_limits<std::int64_t>::min());
  CHECK(padded[2].spec.padding_id == -1);
  CHECK(padded[3].spec.padding_id == std::numeric_limits<std::int64_t>::max() - 1);
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
  CHECK(std::holds_alternative<CsrBags>(all[2].spec.bags));
}

TEST_CASE("a manifest that cannot be meant is refused with its place and what is allowed") {
  const std::string shape = R"("embedding_dim": 8, "embedding_bag_size": 1)";
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"", "line 1, column 1"},
      {"{\n  \"jitbag_manifest\": 1,\n  kernels", "line 3, column 3"},
      {"[]", "the manifest is []; give an object"},
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
      {with("{" + shape + R"(, "pooling": ["mean", "sum"]})"),
       "kernels[0].pooling[1] is \"sum\"; only \"mean\" is there yet"},
      {with("{" + shape + R"(, "operator": "embedding"})"), "choose embedding_bag_mean"},
      {with("{" + shape + R"(, "dtype": ["float16", "float7"]})"), "dtype[1] is \"float7\""},
      {with("{" + shape + R"(, "padding_id": "none"})"), "a whole number, a range or null"},
      {with("{" + shape + R"(, "padding_id": 3000000000, "id_type": "int32"})"),
       "kernels[0]: padding_id is 3000000000"},
      {with("{" + shape + R"(, "addressing": 16})"), "give 32 or 64"},
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
        .strategy;
  };
  CHECK(strategy_for("9000") == strategy_for("8192"));
  CHECK_FALSE(strategy_for("1") == strategy_for("1048576"));
}

}  // namespace jitbag::tools
