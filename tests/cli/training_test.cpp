// bench --training, and operators whose names say the pooling.
#include "bench/training.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/gradient_check.hpp"
#include "catch.hpp"
#include "checks.hpp"
#include "jitbag/host.hpp"
#include "program.hpp"

namespace jitbag::test {
namespace {

const std::string small_step =
    "bench --batch 40 --embedding-vocab-size 60 --embedding-dim 8 --steps 2 --warmup-steps 1 "
    "--repeats 2 --training ";

std::vector<std::string> part_names(const nlohmann::json& result) {
  std::vector<std::string> names;
  for (const nlohmann::json& part : result.at("parts")) names.push_back(part.at("part"));
  return names;
}

/// Every kind of gradient and optimizer, and some of what forward can be.
const std::vector<std::pair<std::string, std::vector<std::string>>> steps = {
    {"--gradient dense", {"zero", "forward", "backward"}},
    {"--gradient dense --deterministic --dtype float16", {"zero", "forward", "backward"}},
    {"--gradient kept --operator embedding_bag_max", {"forward", "backward", "clear"}},
    {"--gradient kept --gradient-type bfloat16 --table-type int8",
     {"forward", "backward", "clear"}},
    {"--gradient sparse --id-type int32 --operator embedding_bag_sum --weight-type float16",
     {"forward", "backward"}},
    {"--gradient applied --operator embedding_bag_none", {"forward", "backward_and_step"}},
    {"--gradient applied --optimizer momentum --dtype bfloat16", {"forward", "backward_and_step"}},
    {"--gradient applied --optimizer adagrad --dtype float64", {"forward", "backward_and_step"}},
    {"--gradient applied --optimizer row_wise_adagrad --row-stride 12",
     {"forward", "backward_and_step"}},
    {"--gradient applied --optimizer adam --pooling sum+mean+max",
     {"forward", "backward_and_step"}},
};

/// A step of the CPU on few ids, in which row 2 is named twice and rows 3 and 4 by none.
struct SmallStep {
  explicit SmallStep(const std::string& gradient) {
    options.training = true;
    options.gradient = gradient;
    workload.spec = validated({.dim = 2, .bags = FixedBags{2}, .pooling = Pooling::sum});
    workload.num_rows = 5;
    workload.batch = 2;
    workload.num_ids = 4;
    workload.id_sets.push_back(tools::bench::integers({2, 1, 0, 2}, IntegerType::int64));
    workload.table = std::make_shared<tools::bench::HostTable>(
        tools::bench::random_table(workload.num_rows, workload.spec, 1));
    training = tools::bench::training_of(options, workload);
    const tools::bench::TrainingBytes bytes(training, workload);
    state.output = tools::bench::HostBuffer(workload.output_bytes());
    state.gradient = tools::bench::HostBuffer(bytes.gradient);
    std::memset(state.gradient.data(), 0, state.gradient.size());
    if (training.applied() != nullptr)
      std::memcpy(state.gradient.data(), workload.table->rows.data(), state.gradient.size());
    state.rows = tools::bench::HostBuffer(bytes.rows);
    host::backward(training.backward, {.forward = workload.arguments(0, state.output.data()),
                                       .output_gradient = training.output_gradient.data(),
                                       .table_gradient = state.gradient.data(),
                                       .capacity = tools::bench::sparse_capacity(workload),
                                       .rows = state.rows.data(),
                                       .count = &state.count,
                                       .updated_table = state.gradient.data(),
                                       .parameters = &tools::bench::step_parameters});
  }

  [[nodiscard]] std::int64_t wrong() const {
    return tools::bench::compare_gradient(training, workload, state, {1e-5, 1e-5}).wrong;
  }

  [[nodiscard]] float& element(int index) const {
    return reinterpret_cast<float*>(state.gradient.data())[index];
  }

  tools::bench::Options options;
  tools::bench::Workload workload;
  tools::bench::Training training;
  tools::bench::TrainingState state;
};

}  // namespace

TEST_CASE("bench --training tells the parts of every kind of step, right and apart") {
  for (const auto& [flags, parts] : steps) {
    INFO(flags);
    const nlohmann::json document =
        require_json(Program().run(small_step + "--device cpu --backends cpu " + flags));
    const nlohmann::json& result = document["results"][0];
    CHECK(result["status"] == "ok");
    CHECK(result["step_time_ms_median"].get<double>() > 0);
    CHECK(result["compile_sec"].is_null());
    CHECK(result["max_abs_error"].is_number());
    CHECK(part_names(result) == parts);
    for (const nlohmann::json& part : result["parts"]) {
      CHECK(part["step_time_ms_median"].get<double>() <= part["step_time_ms_p95"].get<double>());
      CHECK(part["device_time_us_median"].is_null());
      CHECK(part["max_abs_error"].is_number() == (part["part"] != "zero"));
    }
  }
}

TEST_CASE("bench --training says what was trained, and which backends do not") {
  const nlohmann::json document = require_json(Program().run(
      small_step +
      "--device cpu --backends cpu,reference,jit --gradient applied --optimizer adam"));
  CHECK(document["training"]["gradient"] == "applied");
  CHECK(document["training"]["optimizer"] == "adam");
  CHECK(document["training"]["gradient_type"].is_null());
  CHECK(contains(document["training"]["spec"].get<std::string>(), "gradient=adam of"));
  CHECK(document["results"][0]["status"] == "ok");
  CHECK(document["results"][1]["status"] == "unsupported");
  CHECK(document["results"][2]["status"] == "unsupported");
  const nlohmann::json forward =
      require_json(Program().run("bench --device cpu --backends cpu --batch 4 "
                                 "--embedding-vocab-size 9 --steps 1 --repeats 1"));
  CHECK_FALSE(forward.contains("training"));
  CHECK_FALSE(forward["results"][0].contains("parts"));
}

TEST_CASE("bench --training takes real ids") {
  const TemporaryFolder folder;
  write_npy<std::int32_t>(folder.file("ids.npy"), "(6,)", {9, 3, 1, 4, 1, 5});
  write_npy<std::int64_t>(folder.file("offsets.npy"), "(3,)", {1, 2, 4});
  for (const std::string gradient : {"dense", "sparse --operator embedding_bag_none"}) {
    const nlohmann::json document = require_json(Program().run(
        "bench --device cpu --backends cpu --steps 1 --repeats 1 --training --indices " +
        folder.file("ids.npy") + " --offsets " + folder.file("offsets.npy") + " --gradient " +
        gradient));
    CHECK(document["results"][0]["status"] == "ok");
  }
}

TEST_CASE("bench --training refuses a step whose result is not within the limits") {
  require_failed(
      Program().run(small_step + "--device cpu --backends cpu --operator embedding_bag_none "
                                 "--gradient applied --optimizer adagrad --atol 0 --rtol 0"),
      "backward_and_step: ");
}

TEST_CASE("flags of training that cannot be meant are refused with the reason") {
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"--gradient kept", "give --training too"},
      {"--optimizer adam", "give --training too"},
      {"--deterministic", "give --training too"},
      {"--training --gradient scattered", "'scattered' is not known, choose dense"},
      {"--training --gradient applied --optimizer lamb", "'lamb' is not known, choose sgd"},
      {"--training --optimizer adam", "give --gradient applied too"},
      {"--training --gradient applied --gradient-type float16", "--gradient-type"},
      {"--training --gradient-type int8", "'int8' is not known, choose table"},
      {"--training --tables dlrm_dcnv2", "--training cannot be given with --tables"},
      {"--training --gradient applied --table-type int8", "use a float table"},
      {"--operator embedding_bag_sum --pooling sum", "--pooling cannot be given with"},
      {"--operator embedding_bag_median", "'embedding_bag_median' is not known"},
  };
  for (const auto& [line, part] : refusals) {
    INFO(line);
    require_refused(Program().run("bench --device cpu " + line), part);
  }
}

TEST_CASE("the name of an operator says the pooling") {
  const std::string bench =
      "bench --device cpu --backends cpu --batch 4 --embedding-vocab-size 9 --steps 1 "
      "--warmup-steps 0 --repeats 1 --operator embedding_bag";
  const auto spec = [&](const std::string& more) {
    return require_json(Program().run(bench + more)).at("spec").get<std::string>();
  };
  for (const std::string pooling : {"sum", "mean", "max", "none"})
    CHECK(spec("_" + pooling) == spec(" --pooling " + pooling));
  CHECK(spec("_mean --pooling sum") == spec("_sum"));
  CHECK(spec("_sum") != spec("_mean"));
}

TEST_CASE("the check of a dense gradient sees a wrong element, and a row that no id names") {
  const SmallStep step("dense");
  CHECK(step.wrong() == 0);
  step.element(2 * 2 + 1) += 0.01f;
  CHECK(step.wrong() == 1);
  step.element(3 * 2) = 1e-30f;
  CHECK(step.wrong() == 2);
}

TEST_CASE("the check of a gradient that was cleared sees an element that was not") {
  const SmallStep step("kept");
  CHECK(tools::bench::compare_cleared(step.training, step.state).wrong == 1);
  std::memset(step.state.gradient.data(), 0, step.state.gradient.size());
  CHECK(tools::bench::compare_cleared(step.training, step.state).wrong == 0);
}

TEST_CASE("the check of a sparse gradient sees a wrong element, row and count") {
  SmallStep step("sparse");
  CHECK(step.wrong() == 0);
  step.element(3) += 0.01f;
  CHECK(step.wrong() == 1);
  reinterpret_cast<std::int64_t*>(step.state.rows.data())[1] = 4;
  CHECK(step.wrong() == 2);
  step.state.count.missing = 1;
  CHECK(step.wrong() == 1);
}

TEST_CASE("the check of an applied gradient sees a wrong element, and a row that no id names") {
  const SmallStep step("applied");
  CHECK(step.wrong() == 0);
  step.element(2 * 2 + 1) += 0.01f;
  CHECK(step.wrong() == 1);
  step.element(4 * 2) += 1e-5f;
  CHECK(step.wrong() == 2);
}

TEST_CASE("bench --training measures every kind of step on the GPU", "[.gpu]") {
  const Program program;
  if (program.run("doctor").json().at("gpus").empty()) {
    WARN("skipped: no GPU");
    return;
  }
  for (const auto& [flags, parts] : steps) {
    INFO(flags);
    const nlohmann::json document =
        require_json(program.run(small_step + "--device cuda --backends jit,cpu " + flags));
    REQUIRE(document["results"].size() == 2);
    for (const nlohmann::json& result : document["results"]) {
      CHECK(result["status"] == "ok");
      CHECK(part_names(result) == parts);
    }
    const nlohmann::json& jit = document["results"][0];
    CHECK(jit["device_time_us_median"].get<double>() > 0);
    CHECK(jit["compile_sec"].is_number());
    for (const nlohmann::json& part : jit["parts"]) {
      CHECK(part["device_time_us_median"].get<double>() > 0);
      CHECK(part["kernels"].empty() == (part["part"] == "zero"));
    }
  }
}

}  // namespace jitbag::test
