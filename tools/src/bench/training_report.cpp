#include <spdlog/fmt/fmt.h>

#include "bench/report.hpp"
#include "statistics.hpp"

namespace jitbag::tools::bench {
namespace {

std::string error_cell(const std::optional<Accuracy>& accuracy) {
  return accuracy ? fmt::format("{:.1e}", accuracy->max_abs_error) : "-";
}

std::optional<double> compile_ms(std::optional<double> seconds) {
  if (seconds) *seconds *= 1000;
  return seconds;
}

/// Median and 95th percentile: on the device where that was measured, else by the clock.
std::vector<std::string> time_cells(const std::optional<DeviceTime>& device,
                                    const std::vector<double>& steps_ms) {
  if (device) return {table_cell(device->median_us, 2), table_cell(device->p95_us, 2), "device"};
  if (steps_ms.empty()) return {"-", "-", "-"};
  return {table_cell(median(steps_ms) * 1000, 2), table_cell(percentile(steps_ms, 95) * 1000, 2),
          "clock"};
}

std::vector<std::string> row(const ShapeReport& shape, const Result& result, std::string_view part,
                             const std::vector<std::string>& times, std::optional<double> compile,
                             const std::optional<Accuracy>& accuracy) {
  return {std::to_string(shape.dim),
          shape.bag_size ? std::to_string(*shape.bag_size) : "-",
          result.backend,
          std::string(name(result.status)),
          std::string(part),
          times[0],
          times[1],
          times[2],
          table_cell(compile_ms(compile), 1),
          error_cell(accuracy)};
}

void add_rows(Table& table, const ShapeReport& shape, const Result& result,
              const Options& options) {
  for (const Part& part : result.parts)
    table.add(row(shape, result, name(part.kind), time_cells(part.device_time, part.step_times_ms),
                  compile_sec(part.kernels), part.accuracy));
  table.add(row(shape, result, "together",
                time_cells(result.device_time, step_times_ms(result, options)), compile_sec(result),
                result.accuracy));
}

}  // namespace

std::string to_training_table(const std::vector<ShapeReport>& shapes, const Options& options,
                              const Machine& machine) {
  Table table({"dim", "bag", "backend", "status", "part", "median us", "p95 us", "by", "compile ms",
               "max error"});
  for (const ShapeReport& shape : shapes) {
    for (const Result& result : shape.results) add_rows(table, shape, result, options);
  }
  const std::string what = options.gradient == "applied" ? options.optimizer : options.gradient;
  return table_heading(shapes, options, machine) + "training, gradient " + what + "\n" +
         table.text() + table_reasons(shapes);
}

}  // namespace jitbag::tools::bench
