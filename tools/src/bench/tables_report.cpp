#include <spdlog/fmt/fmt.h>

#include "bench/tables_bench.hpp"
#include "version.hpp"

namespace jitbag::tools::bench {
namespace {

std::string cell(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::optional<double> in_percent(std::optional<double> share) {
  return share ? std::optional(*share * 100) : std::nullopt;
}

Json result_json(const TablesReport& report, const Result& result, const Options& options,
                 const Machine& machine) {
  Json json = to_json(result, options, machine.ceiling_gb_per_s);
  json["floor_bytes"] = number(report.floor_bytes);
  json["floor_us"] = number(report.floor_us());
  json["share_of_floor"] = number(report.share_of_floor(result));
  return json;
}

Json table_json(const TableInputs& inputs, std::size_t number) {
  return {{"table_rows", inputs.tables[number].num_rows},
          {"ids", inputs.tables[number].num_ids},
          {"spec", to_text(inputs.spec.tables[number])}};
}

}  // namespace

Json to_json(const TablesReport& report, const Options& options, const Machine& machine) {
  const TableInputs& inputs = report.inputs;
  Json tables = Json::array();
  for (std::size_t t = 0; t < inputs.tables.size(); ++t) tables.push_back(table_json(inputs, t));
  Json results = Json::array();
  for (const Result& result : report.results)
    results.push_back(result_json(report, result, options, machine));
  return {
      {"operator", options.kernel.operator_name},
      {"tables", options.tables},
      {"table_count", inputs.tables.size()},
      {"batch", inputs.batch},
      {"layout", inputs.is_csr() ? "csr" : "fixed"},
      {"num_ids", inputs.num_ids},
      {"output_width", inputs.output_width},
      {"device", machine.on_gpu ? "cuda" : "cpu"},
      {"device_name", machine.device_name},
      {"driver_version", maybe(machine.driver_version)},
      {"jitbag_version", version},
      {"dtype", options.kernel.values.at("dtype")},
      {"steps", options.steps},
      {"warmup_steps", options.warmup_steps},
      {"repeats", options.repeats},
      {"rotating_sets", report.rotating_sets},
      {"seed", options.seed},
      {"atol", number(report.limits.atol)},
      {"rtol", number(report.limits.rtol)},
      {"ceiling_gb_per_s", number(machine.ceiling_gb_per_s)},
      {"gather_gb_per_s",
       number(report.ceilings ? std::optional(report.ceilings->gather_gb_per_s) : std::nullopt)},
      {"bytes_moved", number(report.bytes_moved)},
      {"floor_bytes", number(report.floor_bytes)},
      {"written_bytes", number(report.written_bytes)},
      {"floor_us", number(report.floor_us())},
      {"floor_at_gather_us", number(report.floor_at_gather_us())},
      {"backends", backends(options, machine.on_gpu)},
      {"results", results},
      {"table_list", tables}};
}

std::string to_table(const TablesReport& report, const Options& options, const Machine& machine) {
  const TableInputs& inputs = report.inputs;
  std::string text =
      fmt::format("{}, {} tables in one launch, {} bags of each, on {}\n", options.tables,
                  inputs.tables.size(), inputs.batch, machine.device_name);
  if (const auto floor = report.floor_us())
    text += fmt::format(
        "{} must pass the memory, which takes {:.1f} us at the {:.0f} GB/s of a random gather and, "
        "where it is written, the {:.0f} GB/s of a copy\n",
        human_bytes(report.floor_bytes), *floor, report.ceilings->gather_gb_per_s,
        report.ceilings->copy_gb_per_s);
  Table table({"backend", "status", "step ms", "device us", "p95 us", "host us", "GB/s",
               "% of floor", "compile ms", "max error"});
  std::string reasons;
  for (const Result& result : report.results) {
    const auto& device = result.device_time;
    std::optional<double> compile_ms = compile_sec(result);
    if (compile_ms) *compile_ms *= 1000;
    table.add({result.backend, std::string(name(result.status)),
               cell(step_time_ms(result, options), 4),
               device ? fmt::format("{:.2f}", device->median_us) : "-",
               device ? fmt::format("{:.2f}", device->p95_us) : "-", cell(result.host_time_us, 2),
               cell(gb_per_s(result, options), 1),
               cell(in_percent(report.share_of_floor(result)), 0), cell(compile_ms, 1),
               result.accuracy ? fmt::format("{:.1e}", result.accuracy->max_abs_error) : "-"});
    if (result.status == Status::unsupported)
      reasons += fmt::format("{}: {}\n", result.backend, result.error);
  }
  return text + table.text() + reasons;
}

}  // namespace jitbag::tools::bench
