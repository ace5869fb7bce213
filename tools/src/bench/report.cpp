#include "bench/report.hpp"

#include <spdlog/fmt/fmt.h>

#include "bench/result.hpp"
#include "bench/training.hpp"
#include "jitbag/compiler.hpp"
#include "version.hpp"

namespace jitbag::tools::bench {
namespace {

bool was_compiled(const Result& result) {
  return result.kernel && result.kernel->origin == KernelOrigin::compiled;
}

/// What was cold when the kernels of this shape were made; null where none was asked for.
Json cold_json(const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (result.kernel)
      return {{"kernel_record_absent", was_compiled(result)},
              {"nvrtc_own_cache", "off (--no-cache)"},
              {"nvrtc_output", "cubin, so the driver compiles nothing"}};
  }
  return nullptr;
}

Json nvrtc_version(const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (was_compiled(result)) return compiler::version();
  }
  return nullptr;  // never opened
}

Json weight_type(const ForwardSpec& spec) {
  return spec.weight_type ? Json(name(*spec.weight_type)) : Json(nullptr);
}

Json training_json(const BackwardSpec& gradient, const Options& options) {
  const bool is_applied = options.gradient == "applied";
  const std::string type{name(training_type(gradient))};
  return {{"gradient", options.gradient},
          {"gradient_type", is_applied ? Json(nullptr) : Json(type)},
          {"optimizer", is_applied ? Json(options.optimizer) : Json(nullptr)},
          {"deterministic", options.deterministic},
          {"spec", to_text(gradient)}};
}

Json document(const ShapeReport& shape, const Options& options, const Machine& machine) {
  const bool from_file = !options.indices_file.empty();
  const auto file_name = [](const std::string& path) {
    return path.empty() ? Json(nullptr) : Json(path);
  };
  Json results = Json::array();
  for (const Result& result : shape.results)
    results.push_back(to_json(result, options, machine.ceiling_gb_per_s));
  Json json = {{"operator", options.kernel.operator_name},
               {"batch", shape.batch},
               {"embedding_vocab_size", shape.table_rows - 1},
               {"embedding_dim", shape.dim},
               {"embedding_bag_size", maybe(shape.bag_size)},
               {"embedding_padding_prob", from_file ? Json(nullptr) : Json(options.padding_prob)},
               {"embedding_padding_id", maybe(shape.padding_id)},
               {"table_rows", shape.table_rows},
               {"indices", file_name(options.indices_file)},
               {"offsets", file_name(options.offsets_file)},
               {"spec", to_text(shape.spec)},
               {"block_rows", maybe(options.block_rows)},
               {"block_cols", maybe(options.block_cols)},
               {"device", machine.on_gpu ? "cuda" : "cpu"},
               {"device_name", machine.device_name},
               {"driver_version", maybe(machine.driver_version)},
               {"nvrtc_version", nvrtc_version(shape.results)},
               {"jitbag_version", version},
               {"dtype", options.kernel.values.at("dtype")},
               {"table_type", name(shape.spec.table_type)},
               {"output_type", name(shape.spec.output_type)},
               {"weight_type", weight_type(shape.spec)},
               {"pooling", options.kernel.values.at("pooling")},
               {"steps", options.steps},
               {"warmup_steps", options.warmup_steps},
               {"repeats", options.repeats},
               {"rotating_sets", shape.rotating_sets},
               {"seed", options.seed},
               {"atol", number(shape.limits.atol)},
               {"rtol", number(shape.limits.rtol)},
               {"ceiling_gb_per_s", number(machine.ceiling_gb_per_s)},
               {"cold", cold_json(shape.results)},
               {"backends", backends(options, machine.on_gpu)},
               {"results", results}};
  if (shape.gradient) json["training"] = training_json(*shape.gradient, options);
  return json;
}

std::vector<std::string> row(const ShapeReport& shape, const Result& result, const Options& options,
                             const Machine& machine) {
  std::optional<double> device_us;
  if (result.device_time) device_us = result.device_time->median_us;
  std::optional<double> share = share_of_ceiling(result, options, machine.ceiling_gb_per_s);
  std::optional<double> compile_ms = compile_sec(result);
  if (compile_ms) *compile_ms *= 1000;
  if (share) *share *= 100;
  return {std::to_string(shape.dim),
          shape.bag_size ? std::to_string(*shape.bag_size) : "-",
          result.backend,
          std::string(name(result.status)),
          table_cell(step_time_ms(result, options), 4),
          table_cell(device_us, 2),
          table_cell(result.host_time_us, 2),
          table_cell(gb_per_s(result, options), 1),
          table_cell(share, 0),
          result.kernel ? std::string(jitbag::name(result.kernel->origin)) : "-",
          table_cell(compile_ms, 1),
          result.accuracy ? fmt::format("{:.1e}", result.accuracy->max_abs_error) : "-"};
}

}  // namespace

Json to_json(const std::vector<ShapeReport>& shapes, const Options& options,
             const Machine& machine) {
  if (shapes.size() == 1) return document(shapes.front(), options, machine);
  Json documents = Json::array();
  for (const ShapeReport& shape : shapes) documents.push_back(document(shape, options, machine));
  return {{"operator", options.kernel.operator_name}, {"sweep", documents}};
}

std::string table_cell(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string table_heading(const std::vector<ShapeReport>& shapes, const Options& options,
                          const Machine& machine) {
  const ShapeReport& first = shapes.front();
  std::string text =
      fmt::format("{}, {} bags, {} rows, {}, on {}\n", options.kernel.operator_name, first.batch,
                  first.table_rows, name(first.spec.table_type), machine.device_name);
  if (machine.ceiling_gb_per_s)
    text += fmt::format("a copy within its memory moves {:.0f} GB/s\n", *machine.ceiling_gb_per_s);
  return text;
}

std::string table_reasons(const std::vector<ShapeReport>& shapes) {
  std::string reasons;
  for (const ShapeReport& shape : shapes) {
    for (const Result& result : shape.results) {
      const std::string line = fmt::format("{}: {}\n", result.backend, result.error);
      if (result.status == Status::unsupported && reasons.find(line) == std::string::npos)
        reasons += line;
    }
  }
  return reasons;
}

std::string to_table(const std::vector<ShapeReport>& shapes, const Options& options,
                     const Machine& machine) {
  Table table({"dim", "bag", "backend", "status", "step ms", "device us", "host us", "GB/s",
               "% of copy", "kernel", "compile ms", "max error"});
  for (const ShapeReport& shape : shapes) {
    for (const Result& result : shape.results) table.add(row(shape, result, options, machine));
  }
  return table_heading(shapes, options, machine) + table.text() + table_reasons(shapes);
}

}  // namespace jitbag::tools::bench
